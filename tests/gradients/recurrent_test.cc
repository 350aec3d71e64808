// Gradients of LSTM, GRU and RNN in float64 and float32 against PyTorch's, as record_recurrent.py prints them.
#include <catch2/catch.hpp>

#include <cmath>

#include "engine/graph/autodiff.h"
#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"
#include "tests/support/compare.h"

namespace recurrent_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

constexpr int64_t kSteps = 3, kBatch = 2, kIns = 4, kHidden = 5;

struct Recorded {
  const char* op;
  int64_t gates;
  double digests[4];  // of the gradients of X, W, R, B
};
constexpr Recorded kRecorded[] = {
    {"LSTM", 4, {0.500492182156, 0.378294314305, -0.066853186964, 0.0367809018281}},
    {"GRU", 3, {-2.19490757478, -2.37267424702, -0.71094939834, -0.494158559276}},
    {"RNN", 1, {-0.522139620252, -0.664381174892, -0.187318797772, 0.283090337996}},
};

double number(size_t i, int k) { return std::sin(0.7 * static_cast<double>(i) + k); }

Tensor numbers(DType type, Dims dims, int k) {
  std::vector<double> wide(static_cast<size_t>(element_count(dims)));
  for (size_t i = 0; i < wide.size(); ++i) wide[i] = number(i, k);
  if (type == DType::f64) return Tensor::of<double>(std::move(dims), std::span<const double>(wide));
  const std::vector<float> narrow(wide.begin(), wide.end());
  return Tensor::of<float>(std::move(dims), std::span<const float>(narrow));
}

std::vector<double> digests_of(const Recorded& cell, DType type) {
  Graph graph;
  Builder b(graph, all_ops());
  const int64_t rows = cell.gates * kHidden;
  const Dims dims[] = {{kSteps, kBatch, kIns}, {1, rows, kIns}, {1, rows, kHidden}, {1, 2 * rows}};
  std::vector<Tensor> tensors;
  std::vector<Value*> inputs;
  for (int i = 0; i < 4; ++i) {
    tensors.push_back(numbers(type, dims[i], i + 1));
    inputs.push_back(b.input(fmt::format("input{}", i), type, Shape::of(dims[i])));
  }
  Attributes attributes;
  if (cell.gates == 3) attributes.set("linear_before_reset", int64_t{1});  // PyTorch's
  const Node* node = b.node("", cell.op, inputs, 1, std::move(attributes));
  if (!node) FAIL(b.status().error().message());
  const GradientSeed seed{node->output(), b.constant(numbers(type, {kSteps, 1, kBatch, kHidden}, 9))};
  const auto gradients = add_gradients(graph, all_ops(), std::span(&seed, 1), inputs);
  if (!gradients.ok()) FAIL(gradients.error().message());
  for (Value* g : *gradients) graph.add_output(g);
  auto session = Session::create(std::move(graph));
  if (!session.ok()) FAIL(session.error().message());
  const auto outputs = (*session)->run(tensors);
  if (!outputs.ok()) FAIL(outputs.error().message());
  std::vector<double> digests;
  for (const Tensor& t : *outputs) {
    const std::vector<double> values = to_doubles(t);
    digests.push_back(0);
    for (size_t i = 0; i < values.size(); ++i) digests.back() += values[i] * number(i, 11);
  }
  return digests;
}

}  // namespace

TEST_CASE("gradients of recurrent layers are PyTorch's, in float64 and float32") {
  for (const Recorded& cell : kRecorded)
    for (const DType type : {DType::f64, DType::f32}) {
      INFO(cell.op << ", " << name_of(type));
      const std::vector<double> got = digests_of(cell, type);
      REQUIRE(got.size() == 4);
      for (size_t i = 0; i < 4; ++i) CHECK(got[i] == Approx(cell.digests[i]).margin(type == DType::f64 ? 1e-11 : 1e-5).epsilon(0));
    }
}
}  // namespace recurrent_test
