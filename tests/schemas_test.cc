// What inference takes against ONNX's and ONNX Runtime's schemas: names and numbers of inputs and outputs, and the samples of operators
// without an input, or with one of another element type. (types_test.cc has the types of ONNX's operators.)
#include <catch2/catch.hpp>

#include <algorithm>

#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "validate/check/type_constraints.h"

namespace schemas_test {
using namespace svengine;
using validate::Presence;
using validate::Schema;
using validate::Schemas;
using validate::SchemaValue;

namespace {

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::f16, DType::i8,      DType::u8,
                            DType::i16, DType::i32, DType::i64, DType::boolean, DType::string};

/// As OpInputs has them. Bodies capture values, which lie behind the node's own inputs.
std::string names_of_inputs(const Schema& schema, bool has_bodies) {
  std::string out;
  for (size_t i = 0; i < schema.inputs.size(); ++i) {
    const SchemaValue& in = schema.inputs[i];
    const bool variadic = in.presence == Presence::variadic;
    const bool may_be_none = variadic && (has_bodies || schema.least_inputs <= static_cast<int>(i));
    out += fmt::format("{}{}{}{}", i ? ", " : "", in.name, in.presence == Presence::optional || may_be_none ? "?" : "", variadic ? "..." : "");
  }
  if (has_bodies && !out.ends_with("...")) out += ", captured?...";
  return out;
}

/// Without what is said of an input being optional.
std::string without_marks(std::string_view names) {
  std::string out(names);
  std::erase(out, '?');
  return out;
}

/// The sample's node, its inputs without their values, one of them of another type, or absent (undefined). Null where inference refuses it.
const Node* node_with(Graph& graph, const OpDef& op, const Sample& sample, size_t changed, DType type) {
  std::vector<Value*> inputs;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const SampleInput& in = sample.inputs[i];
    Type own = in.value.defined() ? Type{in.value.type(), Shape::of(in.value.dims())} : Type{in.dtype, Shape::of(in.dims)};
    if (i == changed) own.dtype = type;
    inputs.push_back(own.dtype == DType::undefined ? nullptr : graph.add_input(fmt::format("x{}", i), std::move(own)));
  }
  Attributes attributes;
  for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
  Node* node = graph.add_node(op, "n", std::move(inputs), static_cast<size_t>(sample.outputs), std::move(attributes));
  return infer_types(*node).ok() ? node : nullptr;
}

/// Inputs that must be there and without which inference takes the node all the same.
std::string taken_without_required(const OpDef& op, const Sample& sample, const Schema& schema) {
  std::string out;
  for (size_t i = 0; i < schema.inputs.size() && i < sample.inputs.size(); ++i) {
    Graph graph;
    if (schema.inputs[i].presence == Presence::single && node_with(graph, op, sample, i, DType::undefined))
      out += fmt::format("{} ", schema.inputs[i].name);
  }
  return out;
}

/// What `check` says of the types of the node's inputs.
std::string broken_types(const Schema& schema, const Node& node) {
  onnx_proto::NodeProto proto;
  for (const Value* v : node.inputs()) proto.add_input(v ? v->name() : "");
  return validate::broken_constraint(Schemas::get(), schema, proto, [&](const std::string& name) {
    const auto named = [&](const Value* v) { return v && v->name() == name; };
    return validate::schema_type((*std::ranges::find_if(node.inputs(), named))->type);
  });
}

}  // namespace

TEST_CASE("operators take no more and no fewer inputs and outputs than the schemas say") {
  constexpr std::string_view kOtherForm[] = {"Upsample"};  // its canonical form is Resize's
  int compared = 0;
  for (const OpDef& op : all_ops().all()) {
    const Schema* schema = Schemas::get().find(op.domain, op.name, op.until);
    if (!schema || std::ranges::find(kOtherForm, op.name) != std::end(kOtherForm)) continue;
    INFO(op.domain << " " << op.name);
    const bool has_bodies = std::ranges::any_of(op.attributes, [](const AttributeDef& a) { return a.kind == AttributeKind::kGraph; });
    if (op.name == std::string_view("AttnLSTM")) {  // the schema calls its attention optional, ONNX Runtime reads it all the same
      CHECK(without_marks(op.inputs.text()) == without_marks(names_of_inputs(*schema, false)));
    } else {
      CHECK(op.inputs.text() == names_of_inputs(*schema, has_bodies));
      if (!has_bodies && !op.inputs.is_variadic()) CHECK(op.inputs.arity().min == schema->least_inputs);
    }
    for (const Sample& sample : samples_of(op)) CHECK(taken_without_required(op, sample, *schema) == "");
    ++compared;
    if (op.domain != std::string_view(kMicrosoftDomain)) continue;  // ONNX's may have inputs and outputs that gradients and bodies need
    CHECK(op.outputs.min == schema->least_outputs);
    CHECK(op.outputs.max == std::min(schema->most_outputs, kVariadic));
  }
  CHECK(compared >= 280);
}

TEST_CASE("inference takes no element types that the schemas of com.microsoft do not") {
  size_t taken = 0;
  for (const OpDef& op : all_ops().all()) {
    const Schema* schema = Schemas::get().first(op.domain, op.name);
    if (op.domain != std::string_view(kMicrosoftDomain) || !schema) continue;
    for (const Sample& sample : samples_of(op))
      for (size_t i = 0; i < sample.inputs.size(); ++i)
        for (const DType type : kTypes) {
          Graph graph;
          const Node* node = node_with(graph, op, sample, i, type);
          if (!node) continue;
          ++taken;
          INFO(op.name << ", input " << i << " of type " << name_of(type));
          CHECK(broken_types(*schema, *node) == "");
        }
  }
  CHECK(taken >= 700);
}
}  // namespace schemas_test
