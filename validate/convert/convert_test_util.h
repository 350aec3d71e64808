// Operators' samples as networks, for the tests of what becomes of them.
#pragma once
#include <catch2/catch.hpp>

#include "engine/graph/graph.h"
#include "engine/graph/op_def.h"
#include "engine/ops/samples.h"
#include "tests/support/must.h"

namespace svengine::tests {

/// The sample as a network: given values are constants, as operators want them that ask for known ones.
inline Graph graph_of(const OpDef& op, const Sample& sample) {
  Graph graph;
  std::vector<Value*> inputs;
  for (const SampleInput& input : sample.inputs) {
    if (input.is_absent()) inputs.push_back(nullptr);
    else if (input.value.defined()) inputs.push_back(graph.add_constant("c", input.value));
    else inputs.push_back(graph.add_input("x", {input.dtype, Shape::of(input.dims)}));
  }
  Attributes attributes;
  for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
  Node* node = graph.add_node(op, "node", std::move(inputs), static_cast<size_t>(sample.outputs), std::move(attributes));
  const Status status = infer_types(*node);
  if (!status.ok()) FAIL(status.error().message());
  for (Value* v : node->outputs()) graph.add_output(v);
  return graph;
}

}  // namespace svengine::tests
