// The tensors of a model file for comparing: each described once, and mapped only while it is looked at.
#pragma once
#include <string>
#include <unordered_map>

#include "engine/base/hash.h"
#include "importers/onnx/onnx_file.h"

namespace svengine::validate {

/// A tensor, or where the engine has no such type (complex numbers) its bytes.
struct StoredTensor {
  std::string type;  // "float32[64x3x7x7]"
  Dims dims;
  Tensor tensor;     // undefined: only `raw` is known
  onnx::Bytes raw;
};

class TensorReader {
 public:
  /// `file` must outlive the reader.
  explicit TensorReader(const onnx::OnnxFile& file) : file_(file) {}

  /// Fails, with the tensor's name, on data that are not there or do not fit the shape.
  Result<StoredTensor> read(const onnx_proto::TensorProto& proto) const;

  /// "float32[64x3x7x7]": reads no data.
  Result<std::string> type(const onnx_proto::TensorProto& proto) const;
  /// Of type and dimensions alone: reads no data.
  Result<uint64_t> shape_hash(const onnx_proto::TensorProto& proto) const;
  /// Of type, dimensions and elements, however these are stored. Every tensor is read once.
  Result<uint64_t> content_hash(const onnx_proto::TensorProto& proto);

 private:
  const onnx::OnnxFile& file_;
  std::unordered_map<const onnx_proto::TensorProto*, uint64_t> contents_;
};

/// The bytes of its elements, where they lie.
onnx::Bytes bytes_of(const StoredTensor& stored);

}  // namespace svengine::validate
