// Nodes that gradients are made of are linear in the gradient that comes in, and their own rules are the transposes: for any r,
// <r, A dy> = <A' r, dy>. What the rule gives is checked by that, on the samples of the operator and for every kernel set.
#include <catch2/catch.hpp>
#include <cmath>

#include "engine/graph/autodiff.h"
#include "engine/graph/text.h"
#include "engine/kernels/kernel_table.h"
#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "runtime/derivative_graphs.h"
#include "runtime/session.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"
#include "tests/support/tested_kernels.h"

namespace transposes_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

constexpr double kTolerance = 2e-5;  // of the sum of the products' sizes

struct Products {
  double forward = 0, backward = 0, size = 0;
};

double dot(const Tensor& a, const Tensor& b, double& size) {
  const std::vector<double> x = to_doubles(a), y = to_doubles(b);
  REQUIRE(x.size() == y.size());
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i], size += std::fabs(x[i] * y[i]);
  return sum;
}

/// <r, A dy> and <A' r, dy> of a sample's first output.
Products products(const OpDef& op, const Sample& sample, const kernels::KernelTable* set) {
  Graph graph;
  std::vector<Value*> inputs;
  std::vector<Tensor> given;
  Value* dy = nullptr;
  for (const SampleInput& in : sample.inputs) {
    if (in.is_absent()) {
      inputs.push_back(nullptr);
      continue;
    }
    const Tensor t = in.value.defined() ? in.value : random_tensor_of(in.dtype, in.dims, inputs.size() + 1, in.low, in.high);
    const bool linear = static_cast<int>(inputs.size()) == op.traits.linear_input;
    inputs.push_back(linear ? graph.add_input("dy", {t.type(), Shape::of(t.dims()), 0}) : graph.add_constant("c", t));
    if (linear) dy = inputs.back(), given.push_back(t);
  }
  Attributes attributes;
  for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
  Node* node = graph.add_node(op, "node", std::move(inputs), static_cast<size_t>(sample.outputs), std::move(attributes));
  if (Status s = infer_types(*node); !s.ok()) FAIL(s.error().message());
  Value* y = node->output(0);
  given.push_back(random_tensor_of(y->type.dtype, *y->type.shape.concrete(), 99, -1, 1));
  const GradientSeed seed{y, graph.add_input("r", y->type)};
  Result<std::vector<Value*>> gradients = add_gradients(graph, all_ops(), {&seed, 1}, {&dy, 1}, Unreached::zeros);
  if (!gradients.ok()) FAIL(gradients.error().message());
  graph.add_output(y);
  graph.add_output(gradients->front());
  SessionOptions options;
  options.kernels = set;
  options.flush_denormals = false;
  auto session = Session::create(std::move(graph), options);
  if (!session.ok()) FAIL(session.error().message());
  const Result<std::vector<Tensor>> results = (*session)->run(given);
  if (!results.ok()) FAIL(results.error().message());
  Products out;
  out.forward = dot((*results)[0], given[1], out.size);
  out.backward = dot((*results)[1], given[0], out.size);
  return out;
}

}  // namespace

TEST_CASE("rules of nodes that are linear in a gradient are their transposes") {
  int checked = 0;
  for (const OpDef& op : all_ops().all()) {
    if (op.traits.linear_input < 0) continue;
    REQUIRE(op.gradient);
    for (size_t i = 0; i < samples_of(op).size(); ++i) {
      for (const kernels::KernelTable* set : kernels::tested_kernel_sets()) {
        INFO(op.name << ", sample " << i << ", " << set->name);
        const Products p = products(op, samples_of(op)[i], set);
        INFO(p.forward << " forward, " << p.backward << " backward, of products of " << p.size << " in all");
        CHECK(std::fabs(p.forward - p.backward) <= kTolerance * p.size);
        ++checked;
      }
    }
  }
  CHECK(checked > 10);
}

TEST_CASE("another input of such a node that needs a gradient is refused") {
  Graph graph;
  const Type type{DType::f32, Shape::of(Dims{3}), 0};
  Value *dy = graph.add_input("dy", type), *v = graph.add_input("v", type);
  Attributes attributes;
  attributes.set("function", std::string("tanh"));
  Node* node = graph.add_node(*all_ops().find(kInternalDomain, "ActivationGrad"), "node", {dy, v}, 1, std::move(attributes));
  REQUIRE(infer_types(*node).ok());
  const GradientSeed seed{node->output(), graph.add_input("r", type)};
  const Result<std::vector<Value*>> gradients = add_gradients(graph, all_ops(), {&seed, 1}, {&v, 1});
  REQUIRE(!gradients.ok());
  CHECK(gradients.error().message().find("with respect to input 0 alone, and one is needed with respect to input 1") != std::string::npos);
}

TEST_CASE("tangents go through windows, pads, slices and resizing") {
  const Result<Graph> graph = parse_graph(R"(graph "g"
input %x: float64[1, 2, 6, 7]
const %w: float64[2, 2, 1, 1] = {0.5, -1, 0.25, 2}
const %pads: int64[8] = {0, 0, 1, 2, 0, 0, 2, 1}
const %starts: int64[1] = {8}
const %ends: int64[1] = {0}
const %axes: int64[1] = {2}
const %steps: int64[1] = {-2}
const %scales: float32[4] = {1, 1, 1.5, 2}
%c: float64[1, 2, 6, 7] = Conv(%x, %w)
%t: float64[1, 2, 6, 7] = Tanh(%c)
%e: float64[1, 2, 9, 10] = Pad(%t, %pads) {mode = "edge"}
%s: float64[1, 2, 4, 10] = Slice(%e, %starts, %ends, %axes, %steps)
%r: float64[1, 2, 6, 20] = Resize(%s, -, %scales) {mode = "linear"}
%m: float64[1, 2, 5, 10] = MaxPool(%r) {kernel_shape = [2, 3], strides = [1, 2], pads = [0, 1, 0, 0]}
%y: float64[1, 2, 4, 9] = AveragePool(%m) {kernel_shape = [2, 2]}
output %y
)",
                                          all_ops());
  if (!graph.ok()) FAIL(graph.error().message());
  Result<Graph> tangent_graph = jvp_graph(*graph);
  if (!tangent_graph.ok()) FAIL(tangent_graph.error().message());
  const Dims dims = {1, 2, 6, 7};
  const Tensor x = random_tensor_of(DType::f64, dims, 1, -2, 2), v = random_tensor_of(DType::f64, dims, 2, -1, 1);
  const auto run = [](Graph g, const std::vector<Tensor>& inputs) {
    auto session = Session::create(std::move(g), {});
    if (!session.ok()) FAIL(session.error().message());
    auto results = (*session)->run(inputs);
    if (!results.ok()) FAIL(results.error().message());
    return std::move(results).value();
  };
  const std::vector<double> tangent = to_doubles(run(std::move(*tangent_graph), {x, v}).at(1));
  constexpr double kStep = 1e-6;
  std::vector<double> at[2];
  for (int side : {0, 1}) {
    MutableTensor moved = x.aligned_copy().value();
    for (int64_t i = 0; i < x.count(); ++i) moved.data<double>()[i] += (side ? kStep : -kStep) * v.data<double>()[i];
    at[side] = to_doubles(run(graph->clone(), {std::move(moved)}).at(0));
  }
  REQUIRE(tangent.size() == at[0].size());
  for (size_t i = 0; i < tangent.size(); ++i) CHECK(tangent[i] == Approx((at[1][i] - at[0][i]) / (2 * kStep)).epsilon(1e-6).margin(1e-7));
}
}  // namespace transposes_test
