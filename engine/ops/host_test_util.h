// For unit tests: one node run on the host, as the importer and the session would have it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "engine/ops/run_node.h"

namespace svengine::ops::tests {

/// A node with these inputs (undefined: absent), canonicalised, inferred and run. `problem` is empty, or the whole message.
struct HostNode {
  std::vector<Tensor> outputs;
  std::string problem;

  HostNode(const char* domain, const char* op, std::vector<Tensor> inputs,
           std::initializer_list<std::pair<const char*, Attribute>> attributes = {}, size_t output_count = 1,
           int opset = kNewestOpset) {
    Graph graph;
    std::vector<Value*> values;
    std::map<const Value*, Tensor> known;
    for (const Tensor& t : inputs) {
      Value* v = t.defined() ? graph.add_input("x", type_of(t)) : nullptr;
      if (v) known[v] = t;
      values.push_back(v);
    }
    Node* node = graph.add_node(*all_ops().find(domain, op), "n", std::move(values), output_count, make_attributes(attributes));
    const std::vector<Value*> results = node->outputs();
    Status status = run(graph, *node, opset, known);
    if (!status.ok()) problem = status.error().message();
    for (const Value* v : results) outputs.push_back(v->is_constant() ? v->constant() : known[v]);
  }

  bool says(std::string_view part) const { return problem.find(part) != std::string::npos; }
  std::vector<std::string> strings(size_t output = 0) const {
    return {outputs[output].strings().begin(), outputs[output].strings().end()};
  }
  std::vector<int64_t> ints(size_t output = 0) const { return outputs[output].as_int64s(); }
  std::vector<float> floats(size_t output = 0) const {
    const auto data = outputs[output].data<float>();
    return {data.begin(), data.end()};
  }

 private:
  static Type type_of(const Tensor& t) {
    const bool dense = !is_container(t.type());
    Type type{t.type(), dense ? Shape::of(t.dims()) : Shape(std::vector<Dim>{})};
    if (!dense && !t.items().empty()) type.element = std::make_shared<const Type>(Type{t.items()[0].type(), Shape()});
    return type;
  }

  static Status run(Graph& graph, Node& node, int opset, std::map<const Value*, Tensor>& known) {
    CanonicalizeContext context(graph, node, all_ops(), opset);
    if (node.op().canonicalize) SV_TRY(node.op().canonicalize(context));
    if (node.outputs().empty()) return {};  // they became constants
    SV_TRY(infer_types(node));
    for (const auto& n : graph.nodes()) {
      std::vector<Tensor> inputs;
      for (const Value* v : n->inputs()) inputs.push_back(!v ? Tensor() : v->is_constant() ? v->constant() : known[v]);
      SV_ASSIGN(std::vector<Tensor> outputs, run_node(*n, inputs));
      for (size_t i = 0; i < outputs.size(); ++i) known[n->output(i)] = outputs[i];
    }
    return {};
  }
};

inline Tensor texts(std::vector<std::string> values) {
  const auto count = static_cast<int64_t>(values.size());
  return Tensor::of_strings({count}, std::move(values));
}
inline Tensor sequence(std::vector<Tensor> items) { return Tensor::of_items(DType::sequence, std::move(items)); }

}  // namespace svengine::ops::tests
