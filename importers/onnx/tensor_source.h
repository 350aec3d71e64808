// The tensors of a model that was parsed from a stripped model (see stripped_model.h), from where they really are.
#pragma once
#include <memory>

#include "importers/onnx/tensor_proto.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

class TensorSource {
 public:
  /// `external` may be null: no external data. All three must outlive the source; `owner` goes into the tensors.
  TensorSource(Bytes file, std::shared_ptr<const void> owner, ExternalFiles* external)
      : file_(file), owner_(std::move(owner)), external_(external) {}

  Result<Tensor> read(const onnx_proto::TensorProto& stripped_model) const;
  /// A sparse tensor, made dense: zeros, or empty strings, where no value is given. At most kMostDenseBytes.
  Result<Tensor> read(const onnx_proto::SparseTensorProto& stripped_model) const;
  static constexpr size_t kMostDenseBytes = size_t{1} << 31;

 private:
  Bytes file_;
  std::shared_ptr<const void> owner_;
  ExternalFiles* external_;
};

}  // namespace svengine::onnx
