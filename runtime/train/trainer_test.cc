// One step by hand, what is kept, and what is refused; whole networks are compared with PyTorch in tests/training.
#include "runtime/train/trainer.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <set>

#include "engine/base/random.h"
#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "tests/support/must.h"

namespace trainer_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

template <class T>
std::string problem(const T& result) {
  REQUIRE_FALSE(result.ok());
  return result.error().message();
}

Tensor floats(Dims dims, std::initializer_list<float> values) { return Tensor::of<float>(std::move(dims), values); }

/// y[1, outs] = drop(x[1, 2]) w + b: as exported, for one sample.
Graph linear(std::optional<float> dropout = {}) {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape::of(Dims{1, 2}));
  if (dropout) x = b.add("Dropout", {x, b.constant(Tensor::scalar(*dropout))});
  Value* product = b.add("MatMul", {x, b.constant(floats({2, 2}, {1, 2, 3, 4}), "w")});
  b.output(b.add("Add", {product, b.constant(floats({2}, {0.5f, -0.5f}), "b")}), "y");
  if (!b.status().ok()) FAIL(b.status().error().message());
  return graph;
}

Tensor random_floats(Dims dims, uint64_t seed) {
  MutableTensor out = must(Tensor::allocate(DType::f32, std::move(dims)));
  fill_uniform(RandomStream(seed), 0, -1, 1, out.data<float>());
  return out;
}

/// Three residual blocks of convolution, norm, activation and dropout on x[N, 3, 16, 16], and 5 classes.
Graph convolutions() {
  Graph graph;
  Builder b(graph, all_ops());
  uint64_t seed = 10;
  const auto conv = [&](Value* x, int64_t from, int64_t to, int64_t size, std::string name) {
    return b.add("Conv", {x, b.constant(random_floats({to, from, size, size}, ++seed), name + ".w")},
                 make_attributes({{"pads", std::vector<int64_t>(4, size / 2)}}), name);
  };
  const auto norm = [&](Value* x, int64_t channels, std::string name) {
    const auto all = [&](float value, const char* what) {
      const std::vector<float> values(static_cast<size_t>(channels), value);
      return b.constant(Tensor::of<float>({channels}, std::span<const float>(values)), name + what);
    };
    return b.add("BatchNormalization", {x, all(1, ".scale"), all(0.1f, ".bias"), all(0, ".mean"), all(1, ".variance")}, {}, name);
  };
  Value* x = b.input("x", DType::f32, Shape::of(Dims{1, 3, 16, 16}));
  x = b.add("Relu", {norm(conv(x, 3, 20, 3, "stem"), 20, "stem.norm")});
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("block{}", i);
    Value* y = b.add("Relu", {norm(conv(x, 20, 20, 3, name + ".a"), 20, name + ".a.norm")});
    y = b.add("Dropout", {y, b.constant(Tensor::scalar(0.1f))});
    y = norm(conv(y, 20, 20, 1, name + ".b"), 20, name + ".b.norm");
    x = b.add(i == 1 ? "Gelu" : "Relu", {b.add("Add", {y, x})});
  }
  x = b.add("Flatten", {b.add("GlobalAveragePool", {x})});
  b.output(b.add("MatMul", {x, b.constant(random_floats({20, 5}, 3), "head")}), "scores");
  if (!b.status().ok()) FAIL(b.status().error().message());
  return graph;
}

TrainerOptions options_for(Loss loss, const char* optimizer, const char* topology = "1x2") {
  TrainerOptions out;
  out.step.loss.kind = loss;
  out.step.optimizer = must(OptimizerOptions::parse(optimizer));
  out.session.topology = must(parse_topology(topology));
  return out;
}

std::vector<float> values(const Trainer& trainer, const std::string& name) {
  for (const CheckpointTensor& t : trainer.state())
    if (t.name == name) return {t.tensor.data<float>().begin(), t.tensor.data<float>().end()};
  FAIL("no " << name);
  return {};
}

}  // namespace

TEST_CASE("a step of plain gradient descent is what it is by hand") {
  const auto trainer = must(Trainer::create(linear(), options_for(Loss::mse, "sgd")));
  // y = (1*1 + 2*3 + 0.5, 1*2 + 2*4 - 0.5) = (7.5, 9.5); the loss is the mean of (0.5^2, 1.5^2); its gradient by y is (0.5, 1.5).
  const StepResult result = must(trainer->step({floats({1, 2}, {1, 2})}, floats({1, 2}, {7, 8}), 0.5));
  CHECK(result.loss == 1.25);
  CHECK(result.counted == 1);
  CHECK(values(*trainer, "w") == std::vector<float>{0.75f, 1.25f, 2.5f, 2.5f});
  CHECK(values(*trainer, "b") == std::vector<float>{0.25f, -1.25f});
  CHECK(trainer->steps() == 1);
  CHECK(trainer->parameters() == 6);
  const Graph trained = must(trainer->network());
  trained.for_each_value([](Value& v) {
    if (v.name() == "b") CHECK(v.constant().data<float>()[1] == -1.25f);
  });
}

TEST_CASE("clipping scales the gradients of all weights together") {
  TrainerOptions options = options_for(Loss::mse, "sgd");
  options.step.clip_norm = 1;
  const auto trainer = must(Trainer::create(linear(), options));
  must(trainer->step({floats({1, 2}, {1, 2})}, floats({1, 2}, {7, 8}), 1));
  const double norm = std::sqrt(6 * (0.25 + 2.25));  // of b: 2.5; of w, which is 1 and 2 times that: 5 times as much
  CHECK(values(*trainer, "b")[1] == Approx(-0.5 - 1.5 / norm).epsilon(1e-5));
}

/// One step of the layer-wise optimisers on the gradients of the first test, w' and b' in double by the papers' formulas.
TEST_CASE("steps of LARS and LAMB are what they are by hand") {
  const std::vector<double> w{1, 2, 3, 4}, dw{0.5, 1.5, 1, 3}, b{0.5, -0.5}, db{0.5, 1.5};
  const auto norm = [](const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
  };
  const auto lars = [&](const std::vector<double>& x, const std::vector<double>& g, size_t i, bool adapt) {
    const double decay = adapt ? 0.01 : 0, ratio = adapt ? 0.1 * norm(x) / (norm(g) + decay * norm(x)) : 1;
    return x[i] - 0.5 * ratio * (g[i] + decay * x[i]);
  };
  // In the first step m / (1 - beta1) = g and v / (1 - beta2) = g^2, so the direction is the gradient's sign.
  const auto lamb = [&](const std::vector<double>& x, const std::vector<double>& g, size_t i) {
    std::vector<double> u;
    for (size_t k = 0; k < x.size(); ++k) u.push_back(g[k] / (std::fabs(g[k]) + 1e-6) + 0.01 * x[k]);
    return x[i] - 0.5 * norm(x) / norm(u) * u[i];
  };
  const auto stepped = [](const char* optimizer) {
    auto trainer = must(Trainer::create(linear(), options_for(Loss::mse, optimizer)));
    must(trainer->step({floats({1, 2}, {1, 2})}, floats({1, 2}, {7, 8}), 0.5));
    return trainer;
  };
  const auto both = stepped("lars:trust=0.1,weight_decay=0.01"), matrices = stepped("lars:trust=0.1,weight_decay=0.01,skip_vectors=1");
  const auto adaptive = stepped("lamb");
  for (size_t i = 0; i < 4; ++i) {
    CHECK(values(*both, "w")[i] == Approx(lars(w, dw, i, true)).epsilon(1e-5));
    CHECK(values(*matrices, "w")[i] == Approx(lars(w, dw, i, true)).epsilon(1e-5));
    CHECK(values(*adaptive, "w")[i] == Approx(lamb(w, dw, i)).epsilon(1e-5));
  }
  for (size_t i = 0; i < 2; ++i) {
    CHECK(values(*both, "b")[i] == Approx(lars(b, db, i, true)).epsilon(1e-5));
    CHECK(values(*matrices, "b")[i] == Approx(lars(b, db, i, false)).epsilon(1e-5));
    CHECK(values(*adaptive, "b")[i] == Approx(lamb(b, db, i)).epsilon(1e-5));
  }
  CHECK(values(*both, "optimizer/velocity/w").size() == 4);
}

TEST_CASE("batches of any size, and what is kept goes back and forth") {
  const TrainerOptions options = options_for(Loss::cross_entropy, "adamw");
  const auto one = must(Trainer::create(linear(), options)), two = must(Trainer::create(linear(), options));
  const Tensor labels = Tensor::of<int64_t>({3}, {0, 1, 1}), x = floats({3, 2}, {1, 2, -1, 0, 3, 1});
  must(one->step({x}, labels, 0.1));
  must(one->step({floats({1, 2}, {4, 4})}, Tensor::of<int64_t>({1}, {0}), 0.1));
  REQUIRE(two->restore(one->state(), one->position()).ok());
  CHECK(must(one->evaluate({x}, labels)).loss == must(two->evaluate({x}, labels)).loss);
  CHECK(must(one->step({x}, labels, 0.1)).loss == must(two->step({x}, labels, 0.1)).loss);
  CHECK(values(*one, "optimizer/square/w") == values(*two, "optimizer/square/w"));
  std::vector<CheckpointTensor> other = one->state();
  other[0].name = "v";
  CHECK_FALSE(two->restore(other, {}).ok());
}

TEST_CASE("a group of batches is a step with their mean gradient") {
  const std::vector<Tensor> x{floats({2, 2}, {1, 2, -1, 0}), floats({2, 2}, {0, 1, 3, -2}), floats({2, 2}, {2, 2, 1, -1})};
  const std::vector<Tensor> labels{Tensor::of<int64_t>({2}, {0, 1}), Tensor::of<int64_t>({2}, {1, 1}), Tensor::of<int64_t>({2}, {0, 0})};
  TrainerOptions options = options_for(Loss::cross_entropy, "adamw");
  options.step.clip_norm = 0.7;
  const auto whole = must(Trainer::create(linear(), options));
  options.step.accumulate = 2;
  const auto parts = must(Trainer::create(linear(), options)), resumed = must(Trainer::create(linear(), options));
  must(whole->step({floats({4, 2}, {1, 2, -1, 0, 0, 1, 3, -2})}, Tensor::of<int64_t>({4}, {0, 1, 1, 1}), 0.1));
  must(whole->step({x[2]}, labels[2], 0.1));

  must(parts->step({x[0]}, labels[0], 0.1));
  CHECK(values(*parts, "w") == std::vector<float>{1, 2, 3, 4});
  CHECK(parts->position() == TrainerPosition{0, 1, 1});
  REQUIRE(resumed->restore(parts->state(), parts->position()).ok());  // in the middle of a group
  for (const auto& trainer : {parts.get(), resumed.get()}) {
    must(trainer->step({x[1]}, labels[1], 0.1));
    CHECK(trainer->position() == TrainerPosition{1, 2, 0});
    must(trainer->step({x[2]}, labels[2], 0.1));
    REQUIRE(trainer->end_group(0.1).ok());
    REQUIRE(trainer->end_group(0.1).ok());  // nothing is left
    CHECK(trainer->position() == TrainerPosition{2, 3, 0});
  }
  for (const char* name : {"w", "b", "optimizer/mean/w", "optimizer/square/b"}) {
    CHECK(values(*parts, name) == values(*resumed, name));
    const std::vector<float> got = values(*parts, name), want = values(*whole, name);
    for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-5).margin(1e-7));
  }
  CHECK(values(*parts, "accumulated/w") == std::vector<float>(4, 0.0f));
}

TEST_CASE("an update that is not finite is found") {
  TrainerOptions options = options_for(Loss::mse, "sgd");
  options.step.accumulate = 2;
  options.detect_anomaly = true;
  const auto trainer = must(Trainer::create(linear(), options));
  must(trainer->step({floats({1, 2}, {1, 2})}, floats({1, 2}, {7, 8}), 3e38));
  CHECK(problem(trainer->step({floats({1, 2}, {1, 2})}, floats({1, 2}, {7, 8}), 3e38)).find("update.w") != std::string::npos);
}

TEST_CASE("class weights") {
  const Tensor x = floats({1, 2}, {1, 2}), twice = floats({2, 2}, {1, 2, 1, 2});
  TrainerOptions options = options_for(Loss::cross_entropy, "sgd");
  const auto plain = must(Trainer::create(linear(), options));
  options.step.loss.class_weights = {3, 1};
  const auto weighted = must(Trainer::create(linear(), options));
  // y = (7.5, 9.5): with labels 0 and 1 the losses are l + 2 and l; the mean counts the first three times.
  const double l = std::log1p(std::exp(-2.0));
  CHECK(must(plain->evaluate({twice}, Tensor::of<int64_t>({2}, {0, 1}))).loss == Approx(l + 1));
  CHECK(must(weighted->evaluate({twice}, Tensor::of<int64_t>({2}, {0, 1}))).loss == Approx(l + 1.5));
  CHECK(must(weighted->step({x}, Tensor::of<int64_t>({1}, {1}), 0)).loss == Approx(l));
  options.step.loss.class_weights = {1, 1, 1};
  CHECK(problem(Trainer::create(linear(), options)).find("3 class weights for the 2 classes of output 'y'") != std::string::npos);
  options.step.loss.class_weights = {1, -1};
  CHECK(problem(Trainer::create(linear(), options)).find("class weight 1 is -1") != std::string::npos);
}

TEST_CASE("dropout depends on seed and step, not on threads") {
  const Tensor labels = Tensor::of<int64_t>({4}, {0, 1, 1, 0}), x = floats({4, 2}, {1, 2, -1, 1, 3, 1, 2, 2});
  std::vector<double> losses[3];
  const char* topologies[] = {"1x1", "1x3", "1x3"};
  for (size_t i = 0; i < 3; ++i) {
    TrainerOptions options = options_for(Loss::cross_entropy, "sgd", topologies[i]);
    options.step.seed = i == 2 ? 8 : 7;
    const auto trainer = must(Trainer::create(linear(0.5f), options));
    for (int step = 0; step < 6; ++step) losses[i].push_back(must(trainer->step({x}, labels, 0)).loss);
    CHECK(must(trainer->evaluate({x}, labels)).loss == must(trainer->evaluate({x}, labels)).loss);
  }
  CHECK(losses[0] == losses[1]);
  CHECK(losses[0] != losses[2]);
  CHECK(std::set<double>(losses[0].begin(), losses[0].end()).size() > 1);
}

TEST_CASE("values that are computed again are the same bits, for any number of threads, and take less memory") {
  const Recompute level = GENERATE(Recompute::cheap, Recompute::segments);
  const Tensor x = random_floats({6, 3, 16, 16}, 1), labels = Tensor::of<int64_t>({6}, {0, 1, 2, 3, 4, 0});
  std::unique_ptr<Trainer> trainers[3];
  for (size_t i = 0; i < 3; ++i) {
    TrainerOptions options = options_for(Loss::cross_entropy, "sgd:momentum=0.9", i == 1 ? "1x3" : "1x1");
    options.recompute = i == 0 ? Recompute::none : level;
    options.step.clip_norm = 5;
    trainers[i] = must(Trainer::create(convolutions(), options));
    for (int step = 0; step < 3; ++step) must(trainers[i]->step({x}, labels, 0.1));
  }
  for (const auto& trainer : trainers) {
    const auto state = trainer->state(), first = trainers[0]->state();
    for (size_t i = 0; i < state.size(); ++i) {
      INFO(state[i].name);
      CHECK(std::memcmp(state[i].tensor.raw(), first[i].tensor.raw(), state[i].tensor.byte_size()) == 0);
    }
  }
  CHECK(trainers[2]->planned().values < trainers[0]->planned().values);
  CHECK(must(trainers[2]->planned_with(Recompute::none)).values == trainers[0]->planned().values);
  CHECK(trainers[2]->planned().state == trainers[0]->planned().state);
}

TEST_CASE("steps write where the weights lie, and gradients die one by one") {
  const auto trainer = must(Trainer::create(convolutions(), options_for(Loss::cross_entropy, "adamw")));
  must(trainer->step({random_floats({2, 3, 16, 16}, 1)}, Tensor::of<int64_t>({2}, {0, 1}), 0.1));
  const auto plan = trainer->session().plans().at(0);
  size_t first_step = plan->steps.size(), last_gradient = 0;
  for (size_t i = 0; i < plan->steps.size(); ++i) {
    CHECK(plan->steps[i].op != "Output");  // copies of results
    if (plan->steps[i].op == "AdamW") first_step = std::min(first_step, i);
    if (plan->steps[i].op == "ConvGradWeights") last_gradient = i;
  }
  CHECK(first_step < last_gradient);
}

TEST_CASE("what does not fit is refused, and changes nothing") {
  TrainerOptions options = options_for(Loss::cross_entropy, "sgd:momentum=0.9");
  const auto trainer = must(Trainer::create(linear(), options));
  const Tensor x = floats({1, 2}, {1, 2});
  CHECK(problem(trainer->step({x}, Tensor::of<int64_t>({1}, {2}), 1)).find("labels must be 0 to 1") != std::string::npos);
  CHECK(problem(trainer->step({x}, floats({1, 2}, {1, 2}), 1)).find("the target needs int64") != std::string::npos);
  CHECK(problem(trainer->step({x}, Tensor::of<int64_t>({2}, {0, 1}), 1)).find("1 samples, the target 2") != std::string::npos);
  for (const double rate : {std::nan(""), -0.5, 1e39, HUGE_VAL}) {
    CHECK(problem(trainer->step({x}, Tensor::of<int64_t>({1}, {1}), rate)).find("the learning rate is") != std::string::npos);
    CHECK(problem(trainer->end_group(rate)).find("the learning rate is") != std::string::npos);
  }
  CHECK(values(*trainer, "w") == std::vector<float>{1, 2, 3, 4});
  options.step.frozen = [](const std::string&) { return true; };
  CHECK(problem(Trainer::create(linear(), options)).find("nothing to train") != std::string::npos);
  CHECK(problem(OptimizerOptions::parse("sgd:momentum=1")).find("[0, 1)") != std::string::npos);
  CHECK(problem(OptimizerOptions::parse("sgd:nesterov=1")).find("momentum above 0") != std::string::npos);
  CHECK(must(OptimizerOptions::parse(must(OptimizerOptions::parse("adamw:beta1=0.5")).text())).beta1 == 0.5);
  CHECK(must(OptimizerOptions::parse(must(OptimizerOptions::parse("lars:trust=0.5")).text())).trust == 0.5);
  CHECK(must(OptimizerOptions::parse("lamb")).text() == "lamb:beta1=0.9,beta2=0.999,epsilon=1e-06,weight_decay=0.01,skip_vectors=0");
  CHECK(problem(OptimizerOptions::parse("lars:skip_vectors=2")).find("neither 0 nor 1") != std::string::npos);
}
}  // namespace trainer_test
