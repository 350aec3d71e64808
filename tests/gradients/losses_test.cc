// Losses and their gradients against their formulas, and a network that learns.
#include "engine/graph/losses.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "engine/graph/autodiff.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"

namespace losses_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

struct Outcome {
  double loss = 0;
  std::vector<double> gradient;
};

/// The engine's loss of [3, 5] predictions and its gradient.
Outcome engine_loss(Loss loss, const LossOptions& options, const Tensor& p, const Tensor& t) {
  Graph graph;
  Builder b(graph, all_ops());
  Value *prediction = b.input("p", p.type(), Shape::of(p.dims())), *target = b.input("t", t.type(), Shape::of(t.dims()));
  Value* value = add_loss(b, loss, prediction, target, options);
  if (!b.status().ok()) FAIL(b.status().error().message());
  auto gradient = add_gradients(graph, all_ops(), std::vector<GradientSeed>{{value}}, std::vector<Value*>{prediction});
  if (!gradient.ok()) FAIL(gradient.error().message());
  graph.add_output(value);
  graph.add_output((*gradient)[0]);
  auto session = Session::create(std::move(graph));
  auto outputs = (*session)->run({p, t});
  if (!outputs.ok()) FAIL(outputs.error().message());
  return {to_doubles((*outputs)[0])[0], to_doubles((*outputs)[1])};
}

using Formula = double (*)(double p, double t);

void check(Loss loss, const LossOptions& options, const Tensor& t, Formula formula) {
  const Tensor p = random_tensor({3, 5}, 1, -4, 4);
  const Outcome got = engine_loss(loss, options, p, t);
  const std::vector<double> ps = to_doubles(p), ts = to_doubles(t);
  const double share = options.reduction == Reduction::mean ? 1.0 / 15 : 1;
  double sum = 0;
  for (size_t i = 0; i < ps.size(); ++i) {
    sum += formula(ps[i], ts[i]) * share;
    const double slope = (formula(ps[i] + 1e-6, ts[i]) - formula(ps[i] - 1e-6, ts[i])) / 2e-6 * share;
    CHECK(got.gradient[i] == Approx(slope).margin(1e-5));
  }
  CHECK(got.loss == Approx(sum).epsilon(1e-5));
}

}  // namespace

TEST_CASE("losses of real targets", "[autodiff]") {
  const Tensor t = random_tensor({3, 5}, 2, -4, 4), odds = random_tensor({3, 5}, 3, 0, 1);
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    LossOptions options;
    options.reduction = reduction;
    check(Loss::mse, options, t, [](double p, double y) { return (p - y) * (p - y); });
    check(Loss::l1, options, t, [](double p, double y) { return std::fabs(p - y); });
    options.beta = 2;
    check(Loss::smooth_l1, options, t, [](double p, double y) {
      const double d = std::fabs(p - y);
      return d < 2 ? d * d / 4 : d - 1;
    });
    check(Loss::bce_with_logits, options, odds,
          [](double p, double y) { return std::log1p(std::exp(-p)) * y + std::log1p(std::exp(p)) * (1 - y); });
  }
}

TEST_CASE("a loss of logits stays finite where probabilities are 0 and 1", "[autodiff]") {
  const Tensor p = Tensor::of<float>({1, 2}, {500, -500}), t = Tensor::of<float>({1, 2}, {0, 1});
  const Outcome got = engine_loss(Loss::bce_with_logits, {}, p, t);
  CHECK(got.loss == Approx(500));
  CHECK(got.gradient == std::vector<double>{0.5, -0.5});
}

TEST_CASE("a target that does not fit is refused", "[autodiff]") {
  Graph graph;
  Builder b(graph, all_ops());
  Value *p = b.input("p", DType::f32, {3, 1}), *t = b.input("t", DType::f32, {3});
  CHECK(add_loss(b, Loss::mse, p, t) == nullptr);
  CHECK(b.status().error().message().find("'t'") != std::string::npos);
  CHECK(!loss_named("mean").has_value());
  CHECK(loss_named("smooth_l1") == Loss::smooth_l1);
}

TEST_CASE("a small network learns exclusive or", "[autodiff]") {
  Graph graph;
  Builder b(graph, all_ops());
  Value *x = b.input("x", DType::f32, Shape({Dim("N"), Dim(2)})), *labels = b.input("labels", DType::i64, Shape({Dim("N")}));
  Value *w1 = b.constant(random_tensor({2, 16}, 5), "w1"), *b1 = b.constant(random_tensor({16}, 6), "b1"),
        *w2 = b.constant(random_tensor({16, 2}, 7), "w2");
  Value* hidden = b.add("Tanh", {b.add("Add", {b.add("MatMul", {x, w1}), b1})});
  Value* loss = add_loss(b, Loss::cross_entropy, b.add("MatMul", {hidden, w2}), labels);
  REQUIRE(b.status().ok());
  const std::vector<Value*> weights = trainable_constants(graph);
  std::vector<std::string> names;
  for (const Value* v : weights) names.push_back(v->name());
  REQUIRE(names == std::vector<std::string>{"w1", "b1", "w2"});
  std::vector<Tensor> values = constants_to_inputs(graph, names).value();
  const std::vector<Value*> gradients = add_gradients(graph, all_ops(), std::vector<GradientSeed>{{loss}}, weights).value();
  // One node is the step of all weights.
  Value *rate = b.constant(Tensor::scalar(0.5f)), *steps = b.constant(Tensor::scalar<int64_t>(0));
  std::vector<Value*> inputs{rate, steps};
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  inputs.insert(inputs.end(), gradients.begin(), gradients.end());
  const Node* step = b.node(kInternalDomain, "Sgd", inputs, weights.size());
  REQUIRE(step);
  graph.add_output(loss);
  for (Value* v : step->outputs()) graph.add_output(v);
  auto session = Session::create(std::move(graph)).value();
  const Tensor data = Tensor::of<float>({4, 2}, {-1, -1, -1, 1, 1, -1, 1, 1}), truth = Tensor::of<int64_t>({4}, {0, 1, 1, 0});
  double last = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<Tensor> given{data, truth};
    given.insert(given.end(), values.begin(), values.end());
    std::vector<Tensor> out = session->run(given).value();
    last = to_doubles(out[0])[0];
    values.assign(out.begin() + 1, out.end());
  }
  CHECK(last < 0.02);
}
}  // namespace losses_test
