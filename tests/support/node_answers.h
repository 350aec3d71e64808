// Nodes of ONNX Runtime's domain (or of ai.onnx, where that has them) with what they shall answer, on every kernel set.
#pragma once
#include <catch2/catch.hpp>

#include <algorithm>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"
#include "tests/support/compare.h"
#include "tests/support/tested_kernels.h"

namespace svengine::tests {

using AttributeList = std::initializer_list<std::pair<const char*, Attribute>>;

/// One node whose first input is the graph's, the others constants; an undefined tensor is an absent input.
inline Graph graph_of(const char* op, const std::vector<Tensor>& inputs, AttributeList attributes, size_t output = 0) {
  Graph graph;
  std::vector<Value*> values;
  for (const Tensor& t : inputs) {
    if (!t.defined()) values.push_back(nullptr);
    else if (values.empty()) values.push_back(graph.add_input("x", Type{t.type(), Shape::of(t.dims())}));
    else values.push_back(graph.add_constant("c", t));
  }
  const OpDef* contributed = all_ops().find("com.microsoft", op);
  const OpDef& definition = contributed ? *contributed : *all_ops().find("", op);
  const size_t outputs = std::max(output + 1, static_cast<size_t>(definition.outputs.min));
  Node* node = graph.add_node(definition, "n", std::move(values), outputs, make_attributes(attributes));
  graph.add_output(node->output(output));
  return graph;
}

/// Every kernel set answers `expected` with that output, by default the first.
inline void check_answer(const char* op, const std::vector<Tensor>& inputs, AttributeList attributes, const Tensor& expected, double tolerance = 1e-6,
                         size_t output = 0) {
  for (const kernels::KernelTable* set : kernels::tested_kernel_sets()) {
    INFO(op << ", " << set->name);
    Graph graph = graph_of(op, inputs, attributes, output);
    if (const Status inferred = infer_types(*graph.nodes().front()); !inferred.ok()) FAIL(inferred.error().message());
    SessionOptions options;
    options.kernels = set;
    auto session = Session::create(std::move(graph), options);
    if (!session.ok()) FAIL(session.error().message());
    const auto got = (*session)->run({inputs[0]});
    if (!got.ok()) FAIL(got.error().message());
    const Status same = all_close((*got)[0], expected, tolerance, tolerance);
    INFO((same.ok() ? "" : same.error().message()));
    CHECK(same.ok());
  }
}

/// Why the node is refused, when its types are inferred, planned or run; empty: it is not.
inline std::string refusal(const char* op, const std::vector<Tensor>& inputs, AttributeList attributes) {
  Graph graph = graph_of(op, inputs, attributes);
  if (const Status inferred = infer_types(*graph.nodes().front()); !inferred.ok()) return inferred.error().message();
  auto session = Session::create(std::move(graph));
  if (!session.ok()) return session.error().message();
  const auto got = (*session)->run({inputs[0]});
  return got.ok() ? "" : got.error().message();
}

}  // namespace svengine::tests
