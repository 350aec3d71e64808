#include "tests/backend/applicable.h"

#include <fstream>

#include "engine/base/dtype.h"
#include "engine/ops/registry.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::backend {
namespace {

using onnx_proto::GraphProto;
using onnx_proto::ModelProto;
using onnx_proto::NodeProto;
using onnx_proto::ValueInfoProto;

// ONNX 1.12 made this test's output by cutting float32 values off after 16 bits; conversion rounds to nearest, as ONNX says
// since and as PyTorch and ONNX Runtime do.
constexpr const char* kTruncated = "/test_cast_FLOAT_to_BFLOAT16/";
// Its output was computed with epsilon = 0.01, which its node does not say; the operator's default is 1e-6.
constexpr const char* kOtherEpsilon = "/test_adam_multiple/";

std::optional<std::string> refused_value(const ValueInfoProto& value) {
  if (!value.type().has_tensor_type()) return "a value that is no dense tensor (sequence, optional, map or sparse)";
  const auto type = static_cast<DType>(value.type().tensor_type().elem_type());
  if (size_of(type) == 0) return "element type " + std::to_string(value.type().tensor_type().elem_type());
  return std::nullopt;
}

std::optional<std::string> refused_node(const NodeProto& node) {
  const std::string name = (node.domain().empty() ? "" : node.domain() + ".") + node.op_type();
  if (!all_ops().find(node.domain(), node.op_type()) || node.domain() == kInternalDomain) return "operator " + name + " is not implemented";
  for (const auto& attribute : node.attribute())
    if (attribute.has_t() && size_of(static_cast<DType>(attribute.t().data_type())) == 0)
      return "an attribute of element type " + std::to_string(attribute.t().data_type());
  return std::nullopt;
}

std::optional<std::string> refused_graph(const GraphProto& graph) {
  for (const auto& node : graph.node())
    if (auto why = refused_node(node)) return why;
  for (const auto* list : {&graph.input(), &graph.output()})
    for (const auto& value : *list)
      if (auto why = refused_value(value)) return why;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> not_applicable(const std::string& model_path) {
  if (model_path.find(kTruncated) != std::string::npos) return "its expected values are truncated, not rounded";
  if (model_path.find(kOtherEpsilon) != std::string::npos) return "its expected values have another epsilon than its node";
  std::ifstream file(model_path, std::ios::binary);
  ModelProto model;
  if (!model.ParseFromIstream(&file)) return std::nullopt;  // the importer has to say what is wrong with it
  for (const auto& opset : model.opset_import()) {
    if (!opset.domain().empty() && opset.domain() != "ai.onnx") continue;
    if (opset.version() < kOldestOpset || opset.version() > kNewestOpset) return "opset " + std::to_string(opset.version());
  }
  return refused_graph(model.graph());
}

}  // namespace svengine::backend
