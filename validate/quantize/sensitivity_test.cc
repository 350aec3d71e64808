#include "validate/quantize/sensitivity.h"

#include <cmath>

#include "validate/quantize/quantize_test_util.h"

namespace sensitivity_test {
using namespace svengine;
using namespace svengine::validate;
using namespace svengine::validate::tests;
using Catch::Matchers::Contains;

namespace {

/// x[1, 16] through four products; one's weights differ a thousandfold within a column, so that 8 bits leave nothing of the small ones.
Graph with_a_bad_node() {
  Graph graph;
  Builder b(graph, all_ops());
  Value* y = b.input("x", DType::f32, Shape{1, 16});
  for (int i = 0; i < 4; ++i) {
    const std::string name = "product" + std::to_string(i);
    std::vector<float> w(256);
    const Tensor random = random_floats({16, 16}, 20 + static_cast<unsigned>(i));
    for (size_t k = 0; k < w.size(); ++k) w[k] = random.data<float>()[k] * (i == 2 && k < 16 ? 1e-6f : i == 2 && k < 32 ? 1e3f : 1);
    Value* weights = b.constant(Tensor::of<float>({16, 16}, std::span<const float>(w)), name + ".w");
    y = b.node("", "MatMul", {y, weights}, 1, {}, name, {name + ".y"})->output();
    if (i == 1) {  // the large weights meet zeros
      std::vector<float> mask(16, 1);
      mask[1] = 0;
      y = b.add("Mul", {y, b.constant(Tensor::of<float>({16}, std::span<const float>(mask)), "mask")}, {}, "mask");
    }
  }
  graph.add_output(y);
  return graph;
}

SensitivityOptions one_core() {
  SensitivityOptions out;
  out.quantization.calibration.session = one_thread();
  return out;
}

}  // namespace

TEST_CASE("the node that 8 bits harm most comes first, and leaving it out helps") {
  const Graph graph = with_a_bad_node();
  RandomSamples samples({1, 16}, 8);
  Result<SensitivityTrials> trials = SensitivityTrials::start(graph, samples, one_core());
  REQUIRE(trials.ok());
  const Result<std::vector<NodeSensitivity>> ranking = trials->rank();
  REQUIRE(ranking.ok());
  REQUIRE(ranking->size() == 4);
  CHECK((*ranking)[0].selector == "product2");
  CHECK((*ranking)[0].op == "MatMul");
  CHECK((*ranking)[0].snr() < 10);
  CHECK((*ranking)[1].snr() > 30);
  const double all = worst_snr(*trials->all());
  CHECK(all < 10);

  const Result<Exclusions> some = trials->exclusions_for(*ranking, 30);
  REQUIRE(some.ok());
  CHECK(some->selectors == std::vector<std::string>{"product2"});
  CHECK(some->snr >= 30);
  const Result<Exclusions> none = trials->exclusions_for(*ranking, all - 1);
  REQUIRE(none.ok());
  CHECK(none->selectors.empty());
  CHECK(none->snr == Approx(all));
  const Result<Exclusions> everything = trials->exclusions_for(*ranking, 300);
  REQUIRE(everything.ok());
  CHECK(everything->selectors.size() == 4);

  const std::string text = exclusions_text(*some, *ranking, 30);
  CHECK(parse_exclusions(text) == some->selectors);
}

TEST_CASE("a list of exclusions is lines, with comments") {
  CHECK(parse_exclusions("# why\n a b \t# c\r\n\nlast") == std::vector<std::string>{" a b", "last"});
  CHECK(parse_exclusions("").empty());
}

TEST_CASE("noise is measured in decibels of the signal") {
  Noise noise;
  add_noise(noise, Tensor::of<float>({2}, {3, 4}), Tensor::of<float>({2}, {3, 4.5f}));
  CHECK(noise.snr() == Approx(20));
  CHECK(noise.relative() == Approx(0.1));
  CHECK(noise.largest == 0.5);
  add_noise(noise, Tensor::of<float>({1}, {std::nanf("")}), Tensor::of<float>({1}, {std::nanf("")}));
  CHECK(noise.snr() == Approx(20));
  add_noise(noise, Tensor::of<float>({1}, {1}), Tensor::of<float>({1}, {std::nanf("")}));
  CHECK(noise.snr() == -std::numeric_limits<double>::infinity());
  add_noise(noise, Tensor::of<float>({1}, {1}), Tensor::of<float>({1, 1}, {1}));
  CHECK(noise.mismatch == "float32[1x1], not float32[1]");
  CHECK(Noise{}.snr() == std::numeric_limits<double>::infinity());
}
}  // namespace sensitivity_test
