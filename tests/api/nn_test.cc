// nn.hpp: expressions and their gradients, building, training, saving, and what it says of mistakes.
#include <svengine/nn.hpp>

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/temporary_directory.h"

namespace nn_test {
namespace nn = svengine::nn;
using svengine::ElementType;
using Floats = std::vector<float>;

namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

nn::Net classifier() {
  nn::Net net(3);
  const nn::Var x = net.input("x", ElementType::float32, {-1, 2});
  net.output(net.apply(nn::Sequential({nn::Linear(2, 16), nn::Tanh(), nn::Dropout(0.1), nn::Linear(16, 2)}), x), "scores");
  return net;
}

/// Points in the plane; the label says whether the signs of x and y agree.
struct Points {
  Floats x;
  std::vector<int64_t> labels;

  explicit Points(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const float a = std::sin(1.7f * static_cast<float>(i)), b = std::cos(2.9f * static_cast<float>(i) + 1);
      x.insert(x.end(), {a, b});
      labels.push_back(a * b > 0);
    }
  }
  nn::Batch batch() const {
    const auto count = static_cast<int64_t>(labels.size());
    return {{svengine::view({count, 2}, x.data())}, svengine::view({count}, labels.data())};
  }
};

}  // namespace

TEST_CASE("the gradient of x^2 is 2x") {
  nn::Net net;
  const nn::Var x = net.variable({3}, {3, -1, 0.5f});
  const nn::Var y = sum(x * x);
  REQUIRE(y.backward());
  CHECK(x.gradient() == Floats{6, -2, 1});
  CHECK(y.value() == Floats{10.25f});
  CHECK(x.value() == Floats{3, -1, 0.5f});
}

TEST_CASE("expressions") {
  nn::Net net;
  const nn::Var a = net.variable({2, 2}, {1, 2, 3, 4}, "a"), b = net.variable({2}, {-1, 2}, "b"), c = net.constant({}, {2});
  const nn::Var unused = net.variable({1}, {5}, "unused");
  const nn::Var y = mean(matmul(a, a) / (b + 3) - 1.0f * (0.5f - b) * c + nn::op("Exp", {-b}) * 4 - 1);
  REQUIRE(y.backward());
  // By hand: a a = (7 10 15 22); y = mean(aa / (b+3) - (1 - 2 b) + 4 exp(-b) - 1)
  const double e0 = 4 * std::exp(1.0), e1 = 4 * std::exp(-2.0);
  CHECK(y.value().at(0) == Approx((7 / 2. + 15 / 2. + 10 / 5. + 22 / 5. - 2 * (3 - 3) + 2 * e0 + 2 * e1 - 4) / 4).epsilon(1e-6));
  CHECK(b.gradient().at(0) == Approx((-22 / 4. + 2 * 2 - 2 * e0) / 4).epsilon(1e-5));
  CHECK(b.gradient().at(1) == Approx((-32 / 25. + 2 * 2 - 2 * e1) / 4).epsilon(1e-5));
  // d/da of sum(W o (a a)), W = 1 / (b + 3): W a^T + a^T W, over 4
  CHECK(a.gradient().at(0) == Approx((0.5 * 1 + 0.2 * 2 + 1 * 0.5 + 3 * 0.5) / 4).epsilon(1e-5));
  CHECK(unused.gradient() == Floats{0});
  CHECK(c.gradient().empty());
  CHECK_FALSE((a * a).backward());
  CHECK(has(a.error(), "one element"));
}

TEST_CASE("operators with attributes of every kind") {
  nn::Net net;
  const nn::Var x = net.variable({1, 2}, {3, -2}, "x");
  const nn::Var wide = nn::op("Pad", {x, net.integers({0, 1, 0, 2})}, {{"mode", "edge"}});
  CHECK(wide.value() == Floats{3, 3, -2, -2, -2});
  CHECK(nn::op("LeakyRelu", {x}, {{"alpha", 0.5f}}).value() == Floats{3, -1});
  const nn::Var both = nn::op("Concat", {wide, x}, {{"axis", 1}});
  CHECK(both.shape() == std::vector<int64_t>{1, 7});
  CHECK(nn::op("Transpose", {both}, {{"perm", std::vector<int64_t>{1, 0}}}).shape() == std::vector<int64_t>{7, 1});
  REQUIRE(sum(both).backward());
  CHECK(x.gradient() == Floats{3, 4});
  CHECK(nn::op("Concat", {wide, x}, {{"axes", 1}}).name().empty());
  CHECK(has(net.error(), "attribute 'axes' is not one of this operator's"));
}

TEST_CASE("what is wrong with a net is said, and kept") {
  nn::Net net, other;
  CHECK(nn::Var().value().empty());
  CHECK(nn::Var().name().empty());
  const nn::Var x = net.input("x", ElementType::float32, {-1, 4});
  CHECK(x.shape() == std::vector<int64_t>{-1, 4});
  CHECK(x.value().empty());
  CHECK(has(x.error(), "the net has inputs ('x')"));
  CHECK_FALSE(net.save("/tmp/nowhere.onnx"));
  CHECK(has(net.error(), "no output"));
  CHECK(static_cast<bool>(net));
  const nn::Var y = net.apply(nn::Linear(5, 3), x, "first");
  CHECK(has(net.error(), "first."));
  CHECK(y.name().empty());
  CHECK(net.apply(nn::Linear(4, 3), x).name().empty());
  CHECK(has(net.error(), "first."));  // still the first

  const auto problem = [](const nn::Layer& layer, std::vector<std::vector<int64_t>> shapes) {
    nn::Net fresh;
    std::vector<nn::Var> inputs;
    for (const auto& shape : shapes) inputs.push_back(fresh.input("x", ElementType::float32, shape));
    fresh.apply(layer, inputs);
    return fresh.error();
  };
  CHECK(has(problem(nn::MultiHeadAttention(10, 3), {{-1, 4, 10}}), "10 features among 3 heads"));
  CHECK(has(problem(nn::TransformerDecoderLayer(8, 2), {{-1, 4, 8}}), "got 1 inputs, needs 2 to 3"));
  CHECK(has(problem(nn::MultiHeadAttention(8, 2, {0, true, true}), {{-1, -1, 8}}), "fixed length"));
  CHECK(has(problem(nn::LSTM(8, 2), {{-1, 8}}), "[batch, length, features]"));
  CHECK(has(problem(nn::Activation("swoosh"), {{-1, 8}}), "no activation 'swoosh'"));
  CHECK(has(problem(nn::Linear(0, 8), {{-1, 8}}), "'weight' would have the shape 8x0"));
  CHECK(has(problem(nn::Dropout(1), {{-1, 8}}), "in [0, 1)"));
  const nn::Var elsewhere = other.variable({2}, {1, 2});
  nn::Net mixed;
  (void)(mixed.variable({2}, {1, 2}) + elsewhere);
  CHECK(has(mixed.error(), "another net"));
  nn::Net sized;
  sized.variable({3}, {1, 2});
  CHECK(has(sized.error(), "2 values for the shape [3]"));
  nn::Net twice;
  twice.input("x", ElementType::float32, {2});
  CHECK(twice.input("x", ElementType::float32, {2}).name().empty());
  CHECK(has(twice.error(), "an input cannot be called 'x'"));
  nn::Net nameless;
  nameless.input("", ElementType::float32, {2});
  CHECK(has(nameless.error(), "runs name inputs"));
}

TEST_CASE("a net is trained, saved, and run") {
  const svengine::tests::TemporaryDirectory folder(svengine::tests::TemporaryDirectory::Place::memory);
  nn::TrainerOptions options;
  options.optimizer = "adamw:weight_decay=0";
  options.runtime.threads = 2;
  nn::Trainer trainer = nn::Trainer::create(classifier(), options);
  INFO(trainer.error());
  REQUIRE(static_cast<bool>(trainer));
  CHECK(trainer.inputs().at(0).name == "x");
  CHECK(trainer.target().type == ElementType::int64);
  const Points training(64), held_out(50);
  nn::StepReport first, last;
  REQUIRE(trainer.step(training.batch(), 0.02, &first));
  for (int i = 0; i < 150; ++i) REQUIRE(trainer.step(training.batch(), 0.02, &last));
  CHECK(last.loss < 0.3 * first.loss);
  CHECK(last.counted == 64);
  nn::StepReport report;
  REQUIRE(trainer.evaluate(held_out.batch(), report));
  CHECK(report.right >= 46);
  CHECK(trainer.weight("0.weight").shape == std::vector<int64_t>{16, 2});
  CHECK(trainer.weight("no").data == nullptr);

  const std::string path = folder.path() + "/trained.onnx";
  REQUIRE(trainer.save(path));
  svengine::Network network = svengine::Network::load(path);
  std::vector<svengine::TensorView> scores;
  REQUIRE(network.run({svengine::view({50, 2}, held_out.x.data())}, scores));
  int64_t right = 0;
  for (size_t i = 0; i < 50; ++i) right += (scores[0].as<float>()[2 * i + 1] > scores[0].as<float>()[2 * i]) == held_out.labels[i];
  CHECK(right == report.right);
  nn::Trainer again = nn::Trainer::load(path, options);
  nn::StepReport same;
  REQUIRE(again.evaluate(held_out.batch(), same));
  CHECK(same.loss == report.loss);

  CHECK_FALSE(trainer.step({{svengine::view({1, 2}, held_out.x.data())}, svengine::view({1}, held_out.x.data())}, 0.1));
  CHECK(has(trainer.error(), "the target needs int64"));
  CHECK_FALSE(nn::Trainer::load("/no/such.onnx", options));
  CHECK(has(nn::Trainer::load("/no/such.onnx", options).error(), "/no/such.onnx"));
  options.loss = "hinge";
  CHECK(has(nn::Trainer::create(classifier(), options).error(), "no loss 'hinge'"));
}

TEST_CASE("what opset 17 has not is saved in the oldest that has it") {
  const svengine::tests::TemporaryDirectory folder;
  for (const char* name : {"Relu", "Mish", "Gelu", "Swish"}) {
    nn::Net net(1);
    net.output(nn::op(name, {net.input("x", ElementType::float32, {2, 3})}), "y");
    INFO(name << " " << net.error());
    REQUIRE(net.save(folder.path() + "/net.onnx"));
    svengine::Network network = svengine::Network::load(folder.path() + "/net.onnx");
    INFO(network.error());
    CHECK(static_cast<bool>(network));
  }
}

TEST_CASE("Softmax of before opset 13, over all dimensions from its axis on, is saved as newer opsets say it") {
  const svengine::tests::TemporaryDirectory folder(svengine::tests::TemporaryDirectory::Place::memory);
  nn::Net net;
  net.output(nn::op("Softmax", {net.input("x", ElementType::float32, {2, 2, 3})}, {{"axis", 1}, {"coerced", 1}}), "y");
  INFO(net.error());
  REQUIRE(net.save(folder.path() + "/net.onnx"));
  svengine::Network network = svengine::Network::load(folder.path() + "/net.onnx");
  INFO(network.error());
  std::vector<svengine::TensorView> y;
  const Floats zeros(12);
  REQUIRE(network.run({svengine::view({2, 2, 3}, zeros.data())}, y));
  for (int i = 0; i < 12; ++i) CHECK(y[0].as<float>()[i] == Approx(1.0 / 6));
}

TEST_CASE("sequences of two lengths, which runs decide") {
  const svengine::tests::TemporaryDirectory folder(svengine::tests::TemporaryDirectory::Place::memory);
  nn::Net net;
  const nn::Var x = net.input("x", ElementType::float32, {-1, -1, 8}), memory = net.input("memory", ElementType::float32, {-1, -1, 8});
  nn::TransformerOptions options;
  options.feed_forward = 12;
  net.output(net.apply(nn::TransformerDecoderLayer(8, 2, options), {x, memory}, "decoder"), "y");
  const std::string path = folder.path() + "/decoder.onnx";
  INFO(net.error());
  REQUIRE(net.save(path));
  svengine::Network network = svengine::Network::load(path);
  const Floats numbers(2 * 5 * 8, 0.5f);
  std::vector<svengine::TensorView> y;
  REQUIRE(network.run({svengine::view({2, 3, 8}, numbers.data()), svengine::view({2, 5, 8}, numbers.data())}, y));
  CHECK(y[0].shape == std::vector<int64_t>{2, 3, 8});
}

TEST_CASE("constants of a net stay, and groups of batches are steps") {
  nn::Net net;
  const nn::Var x = net.input("x", ElementType::float32, {-1, 2});
  net.output(x * net.variable({2}, {1, 1}, "factor") + net.constant({2}, {5, 6}), "y");
  nn::TrainerOptions options;
  options.loss = "mse";
  options.accumulate = 2;
  nn::Trainer trainer = nn::Trainer::create(net, options);
  REQUIRE(static_cast<bool>(trainer));
  const Floats ones{1, 1};
  const nn::Batch batch{{svengine::view({1, 2}, ones.data())}, svengine::view({1, 2}, ones.data())};
  REQUIRE(trainer.step(batch, 0.1));
  CHECK(trainer.weight("factor").as<float>()[0] == 1);
  CHECK(trainer.weight("constant").data == nullptr);
  REQUIRE(trainer.end_group(0.1));
  CHECK(trainer.weight("factor").as<float>()[0] == Approx(0.5));  // y - t = 5, the gradient 2 * 5 / 2
  CHECK(trainer.weight("factor").as<float>()[1] == Approx(0.4));
}
}  // namespace nn_test
