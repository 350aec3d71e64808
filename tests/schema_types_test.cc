// What inference takes of com.microsoft's operators against ONNX Runtime's schemas: their samples with one input of another element type.
// (types_test.cc does so for ONNX's, by the answers of ONNX's own checker.)
#include <catch2/catch.hpp>

#include <map>

#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "validate/check/schemas.h"

namespace schema_types_test {
using namespace svengine;
using validate::Schema;
using validate::Schemas;
using validate::SchemaValue;

namespace {

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::f16, DType::i8, DType::u8, DType::i16, DType::i32, DType::i64, DType::boolean, DType::string};

/// Whether the schema allows these types: each by itself, and those of one parameter alike.
bool allows(const Schema& schema, const Node& node) {
  std::map<std::string_view, DType> bound;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const SchemaValue* want = validate::value_at(schema.inputs, i);
    if (!want || !node.input(i)) continue;
    const DType type = node.input(i)->type.dtype;
    if (!Schemas::get().allows(*want, name_of(type))) return false;
    if (want->set >= 0 && want->one_type && bound.emplace(want->type, type).first->second != type) return false;
  }
  return true;
}

/// The sample's inputs without their values, one of them of another type; null where inference refuses it.
Node* node_of(Graph& graph, const OpDef& op, const Sample& sample, size_t changed, DType type) {
  std::vector<Value*> inputs;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const SampleInput& in = sample.inputs[i];
    const Type own = in.value.defined() ? Type{in.value.type(), Shape::of(in.value.dims())} : Type{in.dtype, Shape::of(in.dims)};
    inputs.push_back(graph.add_input("x", {i == changed ? type : own.dtype, own.shape}));
  }
  Attributes attributes;
  for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
  Node* node = graph.add_node(op, "n", std::move(inputs), static_cast<size_t>(sample.outputs), std::move(attributes));
  return infer_types(*node).ok() ? node : nullptr;
}

}  // namespace

TEST_CASE("inference takes no element types that the schemas of com.microsoft do not") {
  size_t taken = 0;
  for (const OpDef& op : all_ops().all()) {
    const Schema* schema = Schemas::get().first(op.domain, op.name);
    if (op.domain != std::string_view(kMicrosoftDomain) || !schema) continue;
    for (const Sample& sample : samples_of(op))
      for (size_t i = 0; i < sample.inputs.size(); ++i)
        for (const DType type : kTypes) {
          Graph graph;
          const Node* node = node_of(graph, op, sample, i, type);
          if (!node) continue;
          ++taken;
          INFO(op.name << ", input " << i << " of type " << name_of(type));
          CHECK(allows(*schema, *node));
        }
  }
  CHECK(taken >= 700);
}
}  // namespace schema_types_test
