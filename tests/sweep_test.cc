// Every operator's samples, on every kernel set, with several numbers of threads, folded and unfolded.
//
// What is compared: thread counts bit by bit; kernel sets with each other, and running with constant folding, within the
// operator's tolerance. (That the values are right is what ONNX's backend tests and the kernels' oracles say.)
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "engine/kernels/contract.h"
#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "runtime/session.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"
#include "tests/support/tested_kernels.h"

namespace sweep_test {
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
    if (in.is_absent()) {
      values.push_back(nullptr);
      continue;
    }
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

/// Inputs that a node can do without: none, each, and all from each on.
std::vector<std::vector<size_t>> absences(const OpDef& op, const Sample& sample) {
  std::vector<std::vector<size_t>> out{{}};
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    if (op.inputs.is_required(i)) continue;
    out.push_back({i});
    if (i + 1 == sample.inputs.size()) continue;
    out.emplace_back(sample.inputs.size() - i);
    std::iota(out.back().begin(), out.back().end(), i);
  }
  return out;
}

/// What the node gives where it takes these inputs.
std::optional<std::vector<Tensor>> run_without(const OpDef& op, Sample sample, const std::vector<size_t>& absent, int outputs) {
  sample.outputs = outputs;
  Built built = build(op, sample, true);
  Node& node = *built.graph.nodes().front();
  for (const size_t i : absent) built.graph.set_input(&node, i, nullptr);
  if (!infer_types(node).ok()) return std::nullopt;
  for (const Value* v : node.outputs())
    if (v->type.dtype == DType::undefined) return std::nullopt;
  auto got = evaluate(node, *kernels::tested_kernel_sets().front());
  return got.ok() ? std::optional(std::move(got).value()) : std::nullopt;
}

size_t count_nans(const Tensor& t) {
  const auto in = [&]<class T>(std::span<const T> values) {
    return static_cast<size_t>(std::count_if(values.begin(), values.end(), [](T v) { return std::isnan(v); }));
  };
  return t.type() == DType::f32 ? in(t.data<float>()) : t.type() == DType::f64 ? in(t.data<double>()) : 0;
}

}  // namespace

TEST_CASE("samples agree across kernel sets, threads and folding") {
  for (const OpDef& op : all_ops().all())
    for (size_t i = 0; i < samples_of(op).size(); ++i) {
      INFO(op.name << ", sample " << i);
      check_sample(op, samples_of(op)[i]);
    }
}

// Memory of runs is NaN before it is written, see kernels/contract.h.
TEST_CASE("every output is written, whichever optional inputs are there") {
  if (!kernels::contract_checks) {
    WARN("not tested: ctest sets SVENGINE_CHECK_CONTRACTS=1");
    return;
  }
  int nodes = 0;
  for (const OpDef& op : all_ops().all())
    for (const Sample& sample : op.name == std::string_view("BitCast") ? std::vector<Sample>() : samples_of(op))  // any bits are its results
      for (const std::vector<size_t>& absent : absences(op, sample))
        for (const int outputs : std::set{sample.outputs, std::max(sample.outputs, std::min(op.outputs.max, 8))}) {
          INFO(op.name << " without inputs " << Catch::StringMaker<std::vector<size_t>>::convert(absent) << " of " << sample.inputs.size());
          INFO(outputs << " outputs");
          const std::optional<std::vector<Tensor>> got = run_without(op, sample, absent, outputs);
          nodes += got.has_value();
          for (size_t i = 0; got && i < got->size(); ++i) {
            INFO("output " << i);
            CHECK(count_nans((*got)[i]) == 0);
          }
        }
  CHECK(nodes > 1000);  // so many there were when this was written
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
}  // namespace sweep_test
