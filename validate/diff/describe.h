// Parts of a model as one line of text.
#pragma once
#include <string>

#include "onnx_proto/svengine_onnx.pb.h"
#include "validate/diff/tensor_reader.h"

namespace svengine::validate {

/// "[1, 1]", "0.5", "\"same\"", "int64[2] [3, 4]", "graph of 3 nodes", "-> 'alpha'" (the function's attribute); long lists are cut.
std::string attribute_text(const onnx_proto::AttributeProto& attribute, const TensorReader& tensors);

/// "float32[N x 3]", "sequence of float32[?]", "" where nothing is said.
std::string type_text(const onnx_proto::TypeProto& type);

}  // namespace svengine::validate
