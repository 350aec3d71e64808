// One node of a graph in the form that an opset of ai.onnx has for it.
#pragma once
#include "engine/graph/graph.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

/// Before this opset too much was an attribute that is an input now.
inline constexpr int kOldestExport = 13;

class NameScope;

/// The node as that opset has it; fails when it has no such form. `scope`: of the graph that it is in.
Result<onnx_proto::NodeProto> export_node(const Node& node, int opset, const NameScope& scope);

/// Everything of a TensorProto but the data: name, type, dimensions. Strings are in it too.
onnx_proto::TensorProto export_tensor_header(const Tensor& tensor, const std::string& name);

/// The same of a tensor of which only that is there.
onnx_proto::TensorProto export_tensor_header(DType type, const Dims& dims, const std::string& name);

/// The elements as raw_data has them: the tensor's own bytes, or `packed` where elements have 2 or 4 bits; empty for strings.
std::span<const std::byte> raw_data_of(const Tensor& tensor, std::string& packed);

/// What comes between that header and these data: key and length of raw_data. Empty for strings.
std::string raw_data_head(const Tensor& tensor);
/// Likewise, before that many bytes.
std::string raw_data_head(size_t bytes);

}  // namespace svengine::onnx
