// ONNX tensors in files of their own: input_0.pb and output_0.pb of a model's test_data_set folders.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "engine/base/tensor.h"

namespace svengine {

struct TensorFile {
  std::string name;  // may be empty
  Tensor tensor;
};

/// Reads a serialised TensorProto; large raw data are used in place in the mapped file. Sequences and optionals, which such
/// files can hold too, are refused by name: load_value_proto() takes them.
Result<TensorFile> load_tensor_proto(const std::string& path);

/// The same, or where `kind` is sequence, optional or map a SequenceProto, OptionalProto or MapProto: such files do not say which.
Result<Tensor> load_value_proto(const std::string& path, DType kind);

/// The bytes of the message that load_value_proto() reads: of a tensor, or of a sequence, optional or map.
std::string value_proto_bytes(const Tensor& value, const std::string& name);

/// Writes a TensorProto with raw data; replaces `path` only when complete.
Status save_tensor_proto(const Tensor& tensor, const std::string& name, const std::string& path);
/// The same for values of every kind.
Status save_value_proto(const Tensor& value, const std::string& name, const std::string& path);

}  // namespace svengine
