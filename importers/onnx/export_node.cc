#include "importers/onnx/export_node.h"

#include <algorithm>
#include <string_view>

#include "engine/graph/op_def.h"
#include "importers/onnx/wire.h"

namespace svengine::onnx {
namespace {

using onnx_proto::AttributeProto;
using onnx_proto::NodeProto;

/// Operators whose `axes` are input 1 since an opset, and an attribute before.
struct AxesInput {
  std::string_view op;
  int since;
};
constexpr AxesInput kAxesInputs[] = {
    {"Squeeze", 13},   {"Unsqueeze", 13}, {"ReduceSum", 13},    {"ReduceMean", 18},   {"ReduceMax", 18},       {"ReduceMin", 18},
    {"ReduceProd", 18}, {"ReduceL1", 18},  {"ReduceL2", 18},     {"ReduceLogSum", 18}, {"ReduceLogSumExp", 18}, {"ReduceSumSquare", 18},
};

/// Attributes that came after the oldest opset written here. Left at `otherwise` they say nothing.
struct YoungAttribute {
  std::string_view op, name;
  int since;
  int64_t otherwise;
};
constexpr YoungAttribute kYoungAttributes[] = {
    {"Split", "num_outputs", 18, -1},      {"Cast", "saturate", 19, 1},           {"Reshape", "allowzero", 14, 0},
    {"ReduceSum", "noop_with_empty_axes", 13, 0}, {"AveragePool", "ceil_mode", 10, 0},
};

void set_value(AttributeProto& to, const Attribute& value) {
  switch (kind_of(value)) {
    case AttributeKind::integer:
      to.set_type(AttributeProto::INT);
      to.set_i(std::get<int64_t>(value));
      break;
    case AttributeKind::real:
      to.set_type(AttributeProto::FLOAT);
      to.set_f(std::get<float>(value));
      break;
    case AttributeKind::text:
      to.set_type(AttributeProto::STRING);
      to.set_s(std::get<std::string>(value));
      break;
    case AttributeKind::integers:
      to.set_type(AttributeProto::INTS);
      for (int64_t v : std::get<std::vector<int64_t>>(value)) to.add_ints(v);
      break;
    case AttributeKind::reals:
      to.set_type(AttributeProto::FLOATS);
      for (float v : std::get<std::vector<float>>(value)) to.add_floats(v);
      break;
    case AttributeKind::texts:
      to.set_type(AttributeProto::STRINGS);
      for (const std::string& v : std::get<std::vector<std::string>>(value)) to.add_strings(v);
      break;
    case AttributeKind::tensor: {
      const auto& tensor = std::get<Tensor>(value);
      to.set_type(AttributeProto::TENSOR);
      *to.mutable_t() = export_tensor_header(tensor, {});
      to.mutable_t()->set_raw_data(tensor.raw(), tensor.byte_size());
      break;
    }
  }
}

/// False: leave it out.
Result<bool> is_written(const Node& node, const std::string& name, const Attribute& value, int opset) {
  const int64_t* number = std::get_if<int64_t>(&value);
  if (name == "coerced") {  // the engine's mark of Softmax as it was before opset 13
    if (number && *number != 0 && opset >= 13) return error("coerces its input to two dimensions, which opset {} has not", opset);
    return false;
  }
  for (const YoungAttribute& young : kYoungAttributes) {
    if (young.op != node.op().name || young.name != name || opset >= young.since) continue;
    if (number && *number == young.otherwise) return false;
    return error("attribute '{}' needs opset {}, not {}", name, young.since, opset);
  }
  return true;
}

int axes_input_since(const Node& node) {
  const auto* found = std::find_if(std::begin(kAxesInputs), std::end(kAxesInputs), [&](const AxesInput& a) { return a.op == node.op().name; });
  return found == std::end(kAxesInputs) ? 0 : found->since;
}

Status add_inputs(const Node& node, int opset, NodeProto& out) {
  const bool axes_as_attribute = opset < axes_input_since(node);
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* value = node.input(i);
    if (!axes_as_attribute || i != 1) {
      out.add_input(value ? value->name() : "");
      continue;
    }
    if (!value) continue;
    if (!value->is_constant()) return error("axes '{}' are computed, which needs opset {}, not {}", value->name(), axes_input_since(node), opset);
    AttributeProto* axes = out.add_attribute();
    axes->set_name("axes");
    set_value(*axes, Attribute(value->constant().as_int64s()));
  }
  return {};
}

Result<NodeProto> convert(const Node& node, int opset) {
  const std::string_view domain = node.op().domain;
  if (!domain.empty() && domain != "ai.onnx") return error("is not an operator of ai.onnx, but of {}; export before optimising", domain);
  if (opset < node.op().since || opset > node.op().until)
    return error("exists in opsets {} to {}, not in {}", node.op().since, node.op().until, opset);
  NodeProto out;
  out.set_name(node.name());
  out.set_op_type(node.op().name);
  SV_TRY(add_inputs(node, opset, out));
  for (const Value* v : node.outputs()) {
    if (v->type.block) return error("output '{}' is in a blocked layout; export before optimising", v->name());
    out.add_output(v->name());
  }
  for (const auto& [name, value] : node.attributes) {
    SV_ASSIGN(const bool written, is_written(node, name, value, opset));
    if (!written) continue;
    AttributeProto* attribute = out.add_attribute();
    attribute->set_name(name);
    set_value(*attribute, value);
  }
  return out;
}

}  // namespace

onnx_proto::TensorProto export_tensor_header(const Tensor& tensor, const std::string& name) {
  onnx_proto::TensorProto out;
  if (!name.empty()) out.set_name(name);
  out.set_data_type(static_cast<int32_t>(tensor.type()));
  for (int64_t d : tensor.dims()) out.add_dims(d);
  return out;
}

std::string raw_data_head(size_t size) {
  constexpr uint32_t kRawData = 9;
  std::string out;
  append_field_head(out, kRawData, size);
  return out;
}

Result<NodeProto> export_node(const Node& node, int opset) {
  Result<NodeProto> out = convert(node, opset);
  if (!out.ok()) return std::move(out).error().in(describe(node));
  return out;
}

}  // namespace svengine::onnx
