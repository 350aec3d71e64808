// For unit tests: one node of an operator, as text in and text out.
#pragma once
#include <string>
#include <vector>

#include "engine/graph/builder.h"
#include "engine/ops/canonical.h"
#include "engine/ops/registry.h"

namespace svengine::ops::tests {

/// An input of the node: a type, or a constant. A default one is absent.
struct Given {
  Given() = default;
  Given(DType dtype, Shape shape) : type{dtype, std::move(shape), 0} {}
  Given(Tensor tensor) : constant(std::move(tensor)) {}
  Type type;
  Tensor constant;
};

/// Rank 0; braces would make a shape of unknown rank.
inline const Shape kScalar{std::vector<Dim>{}};

inline Given f32(Shape shape) { return {DType::f32, std::move(shape)}; }
inline Given i64(Shape shape) { return {DType::i64, std::move(shape)}; }
inline Given ints(std::initializer_list<int64_t> values) {
  return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
}
inline Dim sym(const char* name) { return Dim(std::string(name)); }

/// A graph with one node, built as the importer does: canonicalised for `opset`, then inferred. `outcome` is the outputs' types,
/// separated by spaces, or "error: ..." with the whole message.
struct OneNode {
  Graph graph;
  Node* node = nullptr;
  std::string outcome;

  OneNode(const char* op, const std::vector<Given>& given, std::initializer_list<std::pair<const char*, Attribute>> attributes = {},
          size_t outputs = 1, int opset = 21) {
    std::vector<Value*> inputs;
    for (const Given& g : given) {
      Value* v = nullptr;
      if (g.constant.defined()) v = graph.add_constant("c", g.constant);
      else if (g.type.dtype != DType::undefined) v = graph.add_input("x", g.type);
      inputs.push_back(v);
    }
    const OpDef* def = all_ops().find("", op);
    if (!def) {
      outcome = "error: no such operator";
      return;
    }
    node = graph.add_node(*def, "n", std::move(inputs), outputs, make_attributes(attributes));
    Status status;
    CanonicalizeContext context(graph, *node, all_ops(), opset);
    status = to_canonical_form(context);
    if (status.ok()) status = infer_types(*node);
    if (!status.ok()) {
      outcome = "error: " + status.error().message();
      return;
    }
    for (const Value* v : node->outputs()) outcome += (outcome.empty() ? "" : " ") + to_string(v->type);
  }

  bool says(std::string_view part) const { return outcome.find(part) != std::string::npos; }
};

}  // namespace svengine::ops::tests
