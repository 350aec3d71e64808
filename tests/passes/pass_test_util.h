// What the tests of graph passes share: running one pass on a small graph, and computing a graph without any pass.
#pragma once
#include <catch2/catch.hpp>

#include <functional>
#include <set>
#include <string_view>

#include "engine/graph/builder.h"
#include "engine/graph/verify.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"

namespace svengine::tests {

using Describe = std::function<void(Builder&)>;  // adds a small network, outputs included

inline PassContext context() { return pass_context(*kernels::available_kernel_sets()[0]); }
/// Kernels in double precision, which know what is right: two sums in single precision may be as far apart as both are from it.
inline PassContext reference_context() { return pass_context(*kernels::all_kernel_sets().back()); }

inline Graph build(const Describe& describe) {
  Graph graph;
  Builder builder(graph, all_ops());
  describe(builder);
  if (!builder.status().ok()) FAIL(builder.status().error().message());
  return graph;
}

inline void require_ok(const Status& status) {
  if (!status.ok()) FAIL(status.error().message());
}

inline void run_pass(Graph& graph, std::string_view name, const PassContext& with = context()) {
  const Pass* found = nullptr;
  for (const Pass& pass : pipeline())
    if (name == pass.name) found = &pass;
  REQUIRE(found);
  require_ok(found->run(graph, with));
  require_ok(verify(graph));
}

/// The operators in order: "Conv Relu".
inline std::string ops_of(const Graph& graph) {
  std::string text;
  for (const auto& node : graph.nodes()) text += (text.empty() ? "" : " ") + std::string(node->op().name);
  return text;
}

inline const Node& node_of(const Graph& graph, std::string_view op) {
  for (const auto& node : graph.nodes())
    if (op == node->op().name) return *node;
  FAIL("there is no " << op);
  std::abort();
}

inline std::vector<std::string> output_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Value* v : graph.outputs()) names.push_back(v->name());
  return names;
}

/// Outputs of a graph without blocked values: node after node as it stands, no pass run.
inline std::vector<Tensor> evaluated(const Graph& graph, const std::vector<Tensor>& inputs, const PassContext& with = context()) {
  Graph copy = graph.clone();
  const std::vector<Value*> ports = copy.inputs();
  REQUIRE(ports.size() == inputs.size());
  for (size_t i = 0; i < ports.size(); ++i) copy.make_constant(ports[i], inputs[i]);
  for (Node* node : copy.snapshot()) {
    require_ok(infer_types(*node));
    auto results = with.evaluate(*node);
    if (!results.ok()) FAIL(results.error().message());
    const std::vector<Value*> outputs = node->outputs();
    for (size_t i = 0; i < outputs.size(); ++i) copy.make_constant(outputs[i], (*results)[i]);
  }
  std::vector<Tensor> out;
  for (const Value* v : copy.outputs()) out.push_back(v->constant());
  return out;
}

inline std::vector<Tensor> session_run(Graph graph, const std::vector<Tensor>& inputs) {
  SessionOptions options;
  options.topology = parse_topology("1x2").value();
  options.kernels = kernels::available_kernel_sets()[0];
  options.exact_convolution = true;  // element by element, which Winograd's error, relative to the largest output, does not bear
  auto session = Session::create(std::move(graph), options);
  if (!session.ok()) FAIL(session.error().message());
  auto outputs = (*session)->run(inputs);
  if (!outputs.ok()) FAIL(outputs.error().message());
  return std::move(outputs).value();
}

inline void check_close(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected, const char* what) {
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const Status same = all_close(actual[i], expected[i], 1e-5, 1e-5);
    INFO(what << ", output " << i << ": " << (same.ok() ? "" : same.error().message()));
    CHECK(same.ok());
  }
}

/// Runs the pass, checks that outputs keep names and values, and that a session (all passes) computes the same. Returns the
/// graph after the pass.
inline Graph check_pass(const Describe& describe, std::string_view pass, const std::vector<Tensor>& inputs) {
  const Graph before = build(describe);
  Graph after = build(describe);
  run_pass(after, pass);
  CHECK(output_names(after) == output_names(before));
  const std::vector<Tensor> expected = evaluated(before, inputs, reference_context());
  check_close(evaluated(after, inputs), expected, "after the pass");
  check_close(session_run(build(describe), inputs), expected, "session");
  return after;
}

inline Value* scalar(Builder& b, float value) { return b.constant(Tensor::scalar<float>(value)); }

}  // namespace svengine::tests
