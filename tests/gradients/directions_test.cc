// Derivatives of operators in both directions, which must agree: u (J v) is (u J) v, J being the Jacobian at the sample's inputs. (u J) has been
// compared with differences by gradient_check_test.cc.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "runtime/derivative_graphs.h"
#include "runtime/session.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"

namespace directions_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

/// Operators whose gradients have no gradient in turn, in all of their samples. (Conv's with known weights have one: its samples' are inputs.)
const std::set<std::string> kOneWay = {"AffineGrid", "Col2Im", "Conv", "ConvTranspose", "CropAndResize", "CumProd", "DeformConv", "Det", "GRU",
                                       "GridSample", "If", "LRN", "LSTM", "LinearAttention", "Loop", "LpPool", "MaxRoiPool",
                                       "NegativeLogLikelihoodLoss", "RNN", "RoiAlign", "Scan", "SoftmaxCrossEntropyLoss"};

/// A sample as a network; inputs are of random values in the ranges that the sample gives.
struct Network {
  Graph graph;
  std::vector<Tensor> inputs;
  bool made = false;

  Network(const OpDef& op, const Sample& sample) {
    Builder b(graph, all_ops());
    std::vector<Value*> values;
    for (const SampleInput& in : sample.inputs) {
      if (in.is_absent()) {
        values.push_back(nullptr);
        continue;
      }
      if (in.value.defined()) {
        values.push_back(b.constant(in.value));
        continue;
      }
      values.push_back(b.input("x", in.dtype, Shape::of(in.dims)));
      inputs.push_back(random_tensor_of(in.dtype, in.dims, 1 + inputs.size(), in.low, in.high));
    }
    Attributes attributes;
    for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
    const Node* node = b.node(op.domain, op.name, std::move(values), static_cast<size_t>(sample.outputs), std::move(attributes));
    if (!node) return;
    for (Value* v : node->outputs()) graph.add_output(v);
    made = true;
  }
};

/// The last outputs of a graph whose last inputs are random, and those inputs: directions and derivatives along them.
struct Derivatives {
  std::vector<double> directions, results;

  Derivatives(Graph graph, std::vector<Tensor> inputs, size_t last, uint64_t seed) {
    for (size_t i = inputs.size(); i < graph.inputs().size(); ++i) {
      const Type& type = graph.inputs()[i]->type;
      inputs.push_back(random_tensor_of(type.dtype, type.shape.concrete().value(), seed + i, -1, 1));
      append(directions, inputs.back());
    }
    auto session = Session::create(std::move(graph));
    if (!session.ok()) throw std::runtime_error(session.error().message());
    const Result<std::vector<Tensor>> outputs = (*session)->run(inputs);
    if (!outputs.ok()) throw std::runtime_error(outputs.error().message());
    for (size_t i = outputs->size() - last; i < outputs->size(); ++i) append(results, (*outputs)[i]);
  }

  static void append(std::vector<double>& list, const Tensor& t) {
    const std::vector<double> values = to_doubles(t);
    list.insert(list.end(), values.begin(), values.end());
  }
};

bool is_real(const Value* v) { return v->type.dtype == DType::f32; }

/// Whether the operator has derivatives along its inputs' directions here; compares them.
bool check(const OpDef& op, const Sample& sample, std::string& refused) {
  Network network(op, sample);
  if (!network.made) return false;
  const auto& [graph, tensors, made] = network;
  const auto inputs = static_cast<size_t>(std::count_if(graph.inputs().begin(), graph.inputs().end(), is_real));
  const auto outputs = static_cast<size_t>(std::count_if(graph.outputs().begin(), graph.outputs().end(), is_real));
  const auto all_static = [](const Value* v) { return v->type.shape.is_static() && (is_real(v) || !is_float(v->type.dtype)); };
  if (!inputs || !outputs || !std::all_of(graph.outputs().begin(), graph.outputs().end(), all_static)) return false;
  Result<Graph> back = vjp_graph(graph), along = jvp_graph(graph);
  if (!back.ok()) return false;
  if (!along.ok()) {
    refused = along.error().message();
    return false;
  }
  const Derivatives u(std::move(*back), tensors, inputs, 100), v(std::move(*along), tensors, outputs, 200);
  REQUIRE(u.directions.size() == v.results.size());
  REQUIRE(v.directions.size() == u.results.size());
  double left = 0, right = 0, size = 0;
  for (size_t i = 0; i < u.directions.size(); ++i) left += u.directions[i] * v.results[i], size += std::abs(u.directions[i] * v.results[i]);
  for (size_t i = 0; i < v.directions.size(); ++i) right += v.directions[i] * u.results[i], size += std::abs(v.directions[i] * u.results[i]);
  CHECK(std::abs(left - right) <= 1e-4 * size + 1e-6);
  return true;
}

}  // namespace

TEST_CASE("derivatives along directions agree with gradients") {
  int compared = 0;
  for (const OpDef& op : all_ops().all()) {
    if (!op.gradient || op.domain == std::string_view(kInternalDomain)) continue;
    bool any = false;
    std::string refused;
    for (const Sample& sample : samples_of(op)) {
      INFO(op.domain << "." << op.name);
      try {
        any |= check(op, sample, refused);
      } catch (const std::exception& e) {
        FAIL_CHECK(e.what());
      }
    }
    INFO(op.domain << "." << op.name << ": " << refused);
    if (!refused.empty() || any) CHECK(any != kOneWay.contains(op.name));
    compared += any;
  }
  CHECK(compared >= 100);
}
}  // namespace directions_test
