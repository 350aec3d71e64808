#include "importers/onnx/export_body.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "engine/graph/passes/pass.h"
#include "engine/ops/registry.h"
#include "importers/onnx/export_node.h"

namespace svengine::onnx {

void note_read_names(const onnx_proto::GraphProto& graph, std::unordered_set<std::string_view>& out) {
  for (const auto& node : graph.node()) {
    for (const std::string& name : node.input()) out.insert(name);
    for (const auto& attribute : node.attribute())
      if (attribute.has_g()) note_read_names(attribute.g(), out);
  }
}

namespace {

/// The body's name for a value: `wanted`, or that and a number.
void rename_apart(Graph& body, Value* v, const std::string& wanted, const NameScope& around) {
  body.rename(v, wanted);
  for (int n = 1; around.has(v->name()); ++n) body.rename(v, fmt::format("{}_{}", wanted, n));
}

/// Captured inputs get the names of what they are around the body, everything else names of its own: those that it has, where they are
/// called after node and body already.
Status name_values(Graph& body, const Node& node, const std::string& prefix, size_t captured, const NameScope& around) {
  const std::vector<Value*> inputs = body.inputs();
  const size_t own = inputs.size() - captured;
  std::unordered_set<const Value*> given(inputs.begin() + static_cast<std::ptrdiff_t>(own), inputs.end());
  std::vector<Value*> inner;
  body.for_each_value([&](Value& v) {
    if (!given.count(&v)) inner.push_back(&v);
  });
  for (Value* v : inner) rename_apart(body, v, v->name().starts_with(prefix) ? v->name() : prefix + v->name(), around);
  for (Value* v : inputs)
    if (given.count(v)) body.rename(v, prefix + "captured");
  std::unordered_map<const Value*, Value*> first;  // a value may be captured twice
  for (size_t i = 0; i < captured; ++i) {
    const Value* outer = node.input(node.inputs().size() - captured + i);
    const auto [at, fresh] = first.emplace(outer, inputs[own + i]);
    if (!fresh) {
      body.replace_uses(inputs[own + i], at->second);
      continue;
    }
    body.rename(inputs[own + i], outer->name());
    if (inputs[own + i]->name() != outer->name()) return error("captures '{}', which is no name of the graphs around it", outer->name());
  }
  return {};
}

/// ONNX wants a node or initializer of the body behind each output.
void give_outputs_nodes(Graph& body, const std::string& prefix, const NameScope& around) {
  const OpDef& identity = *all_ops().find("", "Identity");
  std::unordered_set<const Value*> seen;
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    Value* output = body.outputs()[i];
    if (seen.insert(output).second && !output->is_input()) continue;
    Node* copy = body.add_node(identity, prefix + "output", {output}, 1);
    copy->output()->type = output->type;
    rename_apart(body, copy->output(), copy->output()->name(), around);
    body.set_output(i, copy->output());
  }
}

void add_initializers(const Graph& body, onnx_proto::GraphProto& out) {
  std::unordered_set<std::string_view> used;
  note_read_names(out, used);
  for (const auto& output : out.output()) used.insert(output.name());
  body.for_each_value([&](Value& v) {
    if (!v.is_constant() || !used.count(v.name())) return;
    onnx_proto::TensorProto& tensor = *out.add_initializer();
    tensor = export_tensor_header(v.constant(), v.name());
    std::string packed;
    const std::span<const std::byte> data = raw_data_of(v.constant(), packed);
    if (v.constant().type() != DType::string) tensor.set_raw_data(data.data(), data.size());
  });
}

void export_type(const Type& type, onnx_proto::TypeProto& out) {
  const Type held = type.element ? *type.element : Type{};
  switch (type.dtype) {
    case DType::sequence: return export_type(held, *out.mutable_sequence_type()->mutable_elem_type());
    case DType::optional: return export_type(held, *out.mutable_optional_type()->mutable_elem_type());
    case DType::map:
      out.mutable_map_type()->set_key_type(static_cast<int32_t>(type.key));
      return export_type(held, *out.mutable_map_type()->mutable_value_type());
    case DType::undefined: return;  // what a sequence holds need not be known
    default: break;
  }
  onnx_proto::TypeProto::Tensor* tensor = out.mutable_tensor_type();
  tensor->set_elem_type(static_cast<int32_t>(type.dtype));
  if (!type.shape.has_rank()) return;
  onnx_proto::TensorShapeProto* shape = tensor->mutable_shape();
  for (const Dim& d : type.shape.dims()) {
    onnx_proto::TensorShapeProto::Dimension* dim = shape->add_dim();
    if (d.is_static()) dim->set_dim_value(d.value());
    else if (d.is_symbolic()) dim->set_dim_param(d.symbol());
  }
}

}  // namespace

void make_node_names_unique(onnx_proto::GraphProto& graph) {
  std::unordered_set<std::string> given;
  for (const auto& node : graph.node()) given.insert(node.name());
  std::unordered_set<std::string> seen;
  std::unordered_map<std::string, int> next;
  for (auto& node : *graph.mutable_node()) {
    if (node.name().empty() || seen.insert(node.name()).second) continue;
    std::string name;
    do name = fmt::format("{}_{}", node.name(), ++next[node.name()]);
    while (!given.insert(name).second);
    node.set_name(name);
    seen.insert(std::move(name));
  }
}

Status export_value_info(const Value& value, onnx_proto::ValueInfoProto& out) {
  if (value.type.block) return error("'{}' is in a blocked layout; export before optimising", value.name());
  out.set_name(value.name());
  // Of a branch that can never be taken types may be unknown; bodies need not say them.
  if (value.type.dtype != DType::undefined) export_type(value.type, *out.mutable_type());
  return {};
}

Status add_value_info(const Graph& graph, onnx_proto::GraphProto& out) {
  std::unordered_set<std::string_view> said;
  for (const auto& output : out.output()) said.insert(output.name());
  for (const auto& node : graph.nodes())
    for (const Value* v : node->outputs())
      if (v->type.dtype != DType::undefined && !said.contains(v->name())) SV_TRY(export_value_info(*v, *out.add_value_info()));
  return {};
}

NameScope::NameScope(const Graph& graph, const NameScope* around) : around_(around) {
  graph.for_each_value([&](const Value& v) { own_.insert(v.name()); });
}

Result<onnx_proto::GraphProto> export_body(const Node& node, const std::string& name, const Graph& body, int opset, const NameScope& around) {
  const auto captured = static_cast<size_t>(node.attributes.get_int("captured"));
  if (captured > body.inputs().size() || captured > node.inputs().size()) return error("captures more values than there are inputs");
  Graph copy = body.clone();
  // Branches give what the node has, and neither more than the other.
  if (node.op().name == std::string_view("If") && copy.outputs().size() > node.outputs().size()) {
    copy.resize_outputs(node.outputs().size());
    SV_TRY(remove_dead_nodes(copy, {.ops = all_ops()}));
  }
  const std::string prefix = fmt::format("{}/{}/", node.name(), name);
  SV_TRY(name_values(copy, node, prefix, captured, around));
  give_outputs_nodes(copy, prefix, around);
  const NameScope scope(copy, &around);
  onnx_proto::GraphProto out;
  out.set_name(copy.name.empty() ? name : copy.name);
  for (const auto& inner : copy.nodes()) {
    SV_ASSIGN(*out.add_node(), export_node(*inner, opset, scope));
  }
  make_node_names_unique(out);
  for (size_t i = 0; i + captured < copy.inputs().size(); ++i) SV_TRY(export_value_info(*copy.inputs()[i], *out.add_input()));
  for (const Value* v : copy.outputs()) SV_TRY(export_value_info(*v, *out.add_output()));
  SV_TRY(add_value_info(copy, out));
  add_initializers(copy, out);
  return out;
}

}  // namespace svengine::onnx
