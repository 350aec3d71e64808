// What the judge of random graphs knows of errors: those that an operator may make, and no others.
#include <algorithm>
#include <cmath>

#include "engine/graph/text.h"
#include "tests/differential/disturb.h"
#include "tests/passes/pass_test_util.h"

namespace disturbance_test {
using namespace svengine;
using namespace svengine::differential;
using namespace svengine::tests;

namespace {

/// The first element of the graph's output, disturbed in many ways.
std::vector<float> disturbed_outputs(std::string_view text, float x) {
  Result<Graph> graph = parse_graph(text, all_ops());
  if (!graph.ok()) FAIL(graph.error().message());
  const kernels::KernelTable& reference = *kernels::find_kernel_set("reference");
  Values leaves{{graph->inputs()[0], Tensor::of<float>({1}, {x})}};
  require_ok(compute_all(*graph, leaves, reference));
  std::vector<float> outputs;
  for (uint64_t run = 0; run < 40; ++run)
    outputs.push_back(compute_disturbed(*graph, leaves, reference, run, false).at(graph->outputs()[0]).data<float>()[0]);
  return outputs;
}

bool any(const std::vector<float>& values, bool (*is)(float)) { return std::any_of(values.begin(), values.end(), is); }

}  // namespace

TEST_CASE("a GELU that vanishes beside its operand may have either sign, and everything may follow from that") {
  const std::vector<float> inverse = disturbed_outputs(
      "graph \"g\"\ninput %x: float32[1]\n%g: float32[1] = Gelu(%x)\n%y: float32[1] = Reciprocal(%g)\noutput %y\n", -18.9f);
  CHECK(any(inverse, [](float y) { return y > 0; }));
  CHECK(any(inverse, [](float y) { return y < 0; }));
  const std::vector<float> power = disturbed_outputs(
      "graph \"g\"\ninput %x: float32[1]\nconst %e: float32[] = {-0.6653824}\n%g: float32[1] = Gelu(%x)\n"
      "%y: float32[1] = Pow(%g, %e)\noutput %y\n",
      -18.9f);
  CHECK(any(power, [](float y) { return std::isnan(y); }));
  CHECK(any(power, [](float y) { return y > 0; }));
}

TEST_CASE("what is exact beside its result is not disturbed beside its operand") {
  // Of a large argument a small result: nothing but its own rounding, and that of the leaf.
  const std::vector<float> y = disturbed_outputs(
      "graph \"g\"\ninput %x: float32[1]\n%e: float32[1] = Exp(%x)\n%y: float32[1] = Reciprocal(%e)\noutput %y\n", -18.9f);
  for (const float v : y) CHECK(std::abs(v / std::exp(18.9f) - 1) < 1e-3);
  const std::vector<float> near = disturbed_outputs(
      "graph \"g\"\ninput %x: float32[1]\n%g: float32[1] = Gelu(%x)\noutput %g\n", 1.0f);
  for (const float v : near) CHECK(std::abs(v - 0.8413447f) < 1e-4);
}

TEST_CASE("of many numbers that vanish none, some or all may be 0") {
  const std::vector<float> sum = disturbed_outputs(
      "graph \"g\"\ninput %x: float32[1]\nconst %n: int64[1] = {64}\nconst %zero: float32[] = {0}\n%many: float32[64] = Expand(%x, %n)\n"
      "%g: float32[64] = Gelu(%many)\n%q: float32[64] = Div(%zero, %g)\n%y: float32[1] = ReduceSum(%q)\noutput %y\n",
      -18.9f);
  CHECK(any(sum, [](float y) { return std::isnan(y); }));
  CHECK(any(sum, [](float y) { return !std::isnan(y); }));
}

TEST_CASE("a slope is exact beside the steepest, which a large gradient shows") {
  const std::vector<float> y = disturbed_outputs(
      "graph \"g\"\ninput %x: float32[1]\nconst %dy: float32[1] = {1e6}\n"
      "%y: float32[1] = svengine.ActivationGrad(%dy, %x) {function = \"gelu\", alpha = 0.0, beta = 0.0}\noutput %y\n",
      -6.0f);
  constexpr float slope = -3.5447e-8f;  // of GELU at -6
  CHECK(any(y, [](float v) { return std::abs(v - 1e6f * slope) > 0.05f; }));
  for (const float v : y) CHECK(std::abs(v - 1e6f * slope) < 1.0f);
}

TEST_CASE("a sum that vanishes among subnormal numbers may have either sign, and everything may follow from that") {
  const std::string text =
      "graph \"g\"\ninput %x: float32[1]\nconst %w: float32[2, 1] = {0.3, -0.3}\nconst %n: int64[2] = {1, 2}\n%row: float32[1, 2] = Expand(%x, %n)\n"
      "%sum: float32[1, 1] = MatMul(%row, %w)\n%y: float32[1, 1] = Sqrt(%sum)\noutput %y\n";
  const std::vector<float> tiny = disturbed_outputs(text, 1e-44f);
  CHECK(any(tiny, [](float y) { return std::isnan(y); }));
  CHECK(any(tiny, [](float y) { return y > 0; }));
  // A sum of normal numbers that is 0 is no less exact than they are.
  const std::string zero =
      "graph \"g\"\ninput %x: float32[1]\nconst %w: float32[1, 1] = {0}\nconst %n: int64[2] = {1, 1}\n%row: float32[1, 1] = Expand(%x, %n)\n"
      "%sum: float32[1, 1] = MatMul(%row, %w)\n%y: float32[1, 1] = Sqrt(%sum)\noutput %y\n";
  for (const float y : disturbed_outputs(zero, 1.0f)) CHECK(y == 0);
}

TEST_CASE("what float16 rounds to 0 may be a number of either sign, and what is exactly 0 may not") {
  const auto signs = [](const std::string& from) {
    return disturbed_outputs("graph \"g\"\ninput %x: float32[1]\n%half: float16[1] = Cast(%x) {to = 10}\n%part: float16[1] = " + from +
                                 "\n%sign: float16[1] = Sign(%part)\n%y: float32[1] = Cast(%sign) {to = 1}\noutput %y\n",
                             -20);
  };
  const std::vector<float> rounded = signs("Exp(%half)"), exact = signs("Relu(%half)");
  CHECK(any(rounded, [](float y) { return y > 0; }));
  CHECK(any(rounded, [](float y) { return y == 0; }));
  for (const float y : exact) CHECK(y == 0);
}

TEST_CASE("a square that leaves the range of float32 may stay a number, and no other is changed") {
  const std::string text =
      "graph \"g\"\ninput %x: float32[1]\n%square: float32[1] = Mul(%x, %x)\n%root: float32[1] = Sqrt(%square)\n%y: float32[1] = Div(%x, %root)\n"
      "output %y\n";
  const std::vector<float> large = disturbed_outputs(text, 3.7e31f);
  CHECK(any(large, [](float y) { return y == 0; }));
  CHECK(any(large, [](float y) { return y > 0.5f; }));
  for (const float y : disturbed_outputs(text, 3)) CHECK(std::abs(y - 1) < 1e-4);
}

TEST_CASE("a norm of numbers whose squares leave the range of float32 may be its bias, and of no others") {
  const std::string text =
      "graph \"g\"\ninput %x: float32[1]\nconst %scale: float32[2] = {1.0, 1.0}\nconst %bias: float32[2] = {0.25, 0.25}\nconst %c: float32[2] = "
      "{1.0, -1.0}\n"
      "%pair: float32[2] = Mul(%x, %c)\n%y: float32[2] = LayerNormalization(%pair, %scale, %bias) {axis = -1}\noutput %y\n";
  const std::vector<float> large = disturbed_outputs(text, 1e25f);
  CHECK(any(large, [](float y) { return std::abs(y - 0.25f) < 1e-4f; }));
  CHECK(any(large, [](float y) { return std::abs(y - 1.25f) < 1e-4f; }));
  for (const float y : disturbed_outputs(text, 1e15f)) CHECK(std::abs(y - 1.25f) < 1e-3);
}

TEST_CASE("an infinity that a sum of convolutions multiplies by weights of opposite signs may stay one, and no other is changed") {
  const auto sums = [](const std::string& from) {
    return disturbed_outputs("graph \"g\"\ninput %x: float32[1]\nconst %s: int64[3] = {1, 1, 1}\nconst %w: float32[1, 1, 1] = {-0.5}\n"
                             "%image: float32[1, 1, 1] = Reshape(%x, %s)\n%part: float32[1, 1, 1] = " + from +
                                 "\n%y: float32[1, 1, 1] = Add(%part, %image)\noutput %y\n",
                             HUGE_VALF);
  };
  const std::vector<float> taps = disturbed_outputs(
      "graph \"g\"\ninput %x: float32[1]\nconst %s: int64[3] = {1, 1, 2}\nconst %w: float32[1, 1, 2] = {-0.5, 0.25}\n"
      "%pair: float32[2] = Concat(%x, %x) {axis = 0}\n%image: float32[1, 1, 2] = Reshape(%pair, %s)\n"
      "%part: float32[1, 1, 2] = Conv(%image, %w) {pads = [0, 1]}\n%y: float32[1, 1, 2] = Add(%part, %image)\noutput %y\n",
      HUGE_VALF);
  const std::vector<float> merged = sums("Conv(%image, %w)"), plain = sums("Mul(%image, %w)");
  for (const std::vector<float>& some : {merged, taps}) {
    CHECK(any(some, [](float y) { return std::isnan(y); }));
    CHECK(any(some, [](float y) { return std::isinf(y); }));
  }
  for (const float y : plain) CHECK(std::isnan(y));
}

TEST_CASE("a product is rounded beside its terms, which two equal ones need not be alike") {
  const std::vector<float> quotients = disturbed_outputs(
      "graph \"g\"\ninput %x: float32[1]\nconst %n: int64[2] = {1, 2}\nconst %w: float32[2, 1] = {1, -0.9999}\n%r: float32[1, 2] = Expand(%x, %n)\n"
      "%p: float32[1, 1] = MatMul(%r, %w)\n%q: float32[1, 1] = MatMul(%r, %w)\n%y: float32[1, 1] = Div(%p, %q)\noutput %y\n",
      1.0f);
  CHECK(any(quotients, [](float y) { return std::abs(y - 1) > 1e-4f; }));
  CHECK_FALSE(any(quotients, [](float y) { return std::abs(y - 1) > 1e-2f; }));
}

TEST_CASE("constants of bodies are disturbed as those around them are") {
  const std::vector<float> differences = disturbed_outputs(
      "graph \"g\"\ninput %x: float32[1]\nconst %c: bool[] = {1}\n%y: float32[1] = If(%c) {then_branch = graph \"a\" {\n"
      "  const %p: float32[1] = {1}\n  const %q: float32[1] = {1}\n  %d: float32[1] = Sub(%p, %q)\n  output %d\n}, else_branch = graph \"b\" {\n"
      "  const %p: float32[1] = {1}\n  output %p\n}}\noutput %y\n",
      1.0f);
  CHECK(any(differences, [](float y) { return y > 0; }));
  CHECK(any(differences, [](float y) { return y < 0; }));
  CHECK_FALSE(any(differences, [](float y) { return std::abs(y) > 1e-5f; }));
}
}  // namespace disturbance_test
