// Every operator's samples, on every kernel set, with several numbers of threads, folded and unfolded.
//
// What is compared: thread counts bit by bit; kernel sets with each other, and running with constant folding, within the
// operator's tolerance. (That the values are right is what ONNX's backend tests and the kernels' oracles say.)
#include <catch2/catch.hpp>

#include "engine/ops/registry.h"
#include "runtime/session.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"
#include "tests/support/tested_kernels.h"

using namespace svengine;
using namespace svengine::tests;

namespace {

struct Built {
  Graph graph;
  std::vector<Tensor> inputs;  // of the graph's inputs; constants are in the graph
};

Built build(const OpDef& op, const Sample& sample, bool all_constant) {
  Built built;
  std::vector<Value*> values;
  uint64_t seed = 1;
  for (const SampleInput& in : sample.inputs) {
    const Tensor t = in.value.defined() ? in.value : random_tensor_of(in.dtype, in.dims, seed++, in.low, in.high);
    const std::string name = fmt::format("x{}", values.size());
    if (in.value.defined() || all_constant) {
      values.push_back(built.graph.add_constant(name, t));
    } else {
      values.push_back(built.graph.add_input(name, Type{t.type(), Shape::of(t.dims())}));
      built.inputs.push_back(t);
    }
  }
  Attributes attributes;
  for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
  Node* node = built.graph.add_node(op, "node", values, static_cast<size_t>(sample.outputs), std::move(attributes));
  for (Value* v : node->outputs()) built.graph.add_output(v);
  return built;
}

std::vector<Tensor> run(Built built, const kernels::KernelTable* set, const char* topology) {
  SessionOptions options;
  options.kernels = set;
  options.topology = parse_topology(topology).value();
  for (const auto& node : built.graph.nodes())
    if (Status s = infer_types(*node); !s.ok()) FAIL(s.error().message());
  auto session = Session::create(std::move(built.graph), options);
  if (!session.ok()) FAIL(session.error().message());
  auto outputs = (*session)->run(built.inputs);
  if (!outputs.ok()) FAIL(outputs.error().message());
  return std::move(outputs).value();
}

void check_close(const std::vector<Tensor>& a, const std::vector<Tensor>& b, const OpDef& op, const char* what) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const Status same = all_close(a[i], b[i], op.tolerance.rtol, op.tolerance.atol);
    INFO(what << ", output " << i << ": " << (same.ok() ? "" : same.error().message()));
    CHECK(same.ok());
  }
}

void check_sample(const OpDef& op, const Sample& sample) {
  std::vector<Tensor> first;
  for (const kernels::KernelTable* set : kernels::tested_kernel_sets()) {
    const std::vector<Tensor> one = run(build(op, sample, false), set, "1x1"), five = run(build(op, sample, false), set, "1x5");
    for (size_t i = 0; i < one.size(); ++i) {
      INFO(set->name << ", output " << i << " with 5 threads");
      CHECK(std::memcmp(one[i].raw(), five[i].raw(), one[i].byte_size()) == 0);
    }
    if (first.empty()) {
      first = one;
      check_close(run(build(op, sample, true), set, "1x1"), one, op, "folded");
    } else {
      check_close(one, first, op, set->name);
    }
  }
}

}  // namespace

TEST_CASE("samples agree across kernel sets, threads and folding") {
  for (const OpDef& op : all_ops().all())
    for (size_t i = 0; i < op.samples.size(); ++i) {
      INFO(op.name << ", sample " << i);
      check_sample(op, op.samples[i]);
    }
}

// Those that are evaluated alone work on sequences, maps and strings, which no sample is made of: they have tests beside them.
TEST_CASE("every operator that a file can hold has samples") {
  for (const OpDef& op : all_ops().all()) {
    INFO(op.name);
    if (op.evaluate && !op.lower) continue;
    CHECK((!op.samples.empty() || op.domain == std::string_view(kInternalDomain) || op.name == std::string_view("Constant") ||
           op.name == std::string_view("Gradient")));  // both are gone once a file is read
  }
}
