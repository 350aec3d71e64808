#include "validate/compare/rounding_within.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "engine/graph/text.h"
#include "engine/ops/registry.h"
#include "tests/support/must.h"
#include "validate/compare/compare_models.h"

namespace rounding_within_test {
using namespace svengine;
using namespace svengine::validate;

namespace {

/// LayerNormalization as old exporters write it, which becomes one node.
constexpr const char* kNorm =
    "graph \"norm\"\ninput %x: float32[2, 2]\nconst %axis: int64[1] = {-1}\nconst %epsilon: float32[] = {1e-05}\nconst %gamma: float32[2] = {2, 1}\n"
    "%mean: float32[2, 1] = ReduceMean(%x, %axis) {keepdims = 1}\n%d: float32[2, 2] = Sub(%x, %mean)\n%square: float32[2, 2] = Mul(%d, %d)\n"
    "%variance: float32[2, 1] = ReduceMean(%square, %axis) {keepdims = 1}\n%sum: float32[2, 1] = Add(%variance, %epsilon)\n"
    "%root: float32[2, 1] = Sqrt(%sum)\n%n: float32[2, 2] = Div(%d, %root)\n%y: float32[2, 2] = Mul(%n, %gamma)\noutput %y\n";

/// Trips of the logistic map, which doubles what rounding does nearly every time: x -> a x (1 - x), said in this way. Nothing real is an input that
/// could be disturbed.
Graph logistic_map(std::string_view nodes) {
  return tests::must(parse_graph(fmt::format("graph \"map\"\ninput %n: int64[]\nconst %x: float32[4] = {{0.2, 0.31, 0.47, 0.83}}\n"
                                             "%y: float32[4] = Loop(%n, -, %x) {{body = graph \"body\" {{\n  input %i: int64[]\n  input %on: bool[]\n"
                                             "  input %x: float32[4]\n  const %a: float32[] = {{3.9}}\n  const %less: float32[] = {{3.8}}\n"
                                             "  const %one: float32[] = {{1}}\n{}  output %on\n  output %next\n}}}}\noutput %y\n",
                                             nodes),
                                 all_ops()));
}

constexpr const char* kProduct =
    "  %rest: float32[4] = Sub(%one, %x)\n  %ax: float32[4] = Mul(%a, %x)\n  %next: float32[4] = Mul(%ax, %rest)\n";
constexpr const char* kDifference =
    "  %ax: float32[4] = Mul(%a, %x)\n  %axx: float32[4] = Mul(%ax, %x)\n  %next: float32[4] = Sub(%ax, %axx)\n";
constexpr const char* kWrong =
    "  %ax: float32[4] = Mul(%less, %x)\n  %axx: float32[4] = Mul(%ax, %x)\n  %next: float32[4] = Sub(%ax, %axx)\n";

}  // namespace

TEST_CASE("a Loop is not guilty of what rounding in its trips grows to, and is of what its body does wrong") {
  const Graph reference_graph = logistic_map(kProduct);
  const std::vector<Tensor> inputs{Tensor::scalar<int64_t>(20)};
  SessionOptions how;
  REQUIRE(choose_kernels(how).ok());
  how.topology = detect_topology(1);
  const auto compared = [&](const Graph& graph) {
    NodeByNode reference(reference_graph.clone(), inputs, how, nullptr);
    const CompareReport report = tests::must(compare_with(graph, inputs, reference, {how, {}, {}}));
    REQUIRE(report.values.size() == 1);
    return report.values[0];
  };
  const ComparedValue other = compared(logistic_map(kDifference)), wrong = compared(logistic_map(kWrong));
  CHECK_FALSE(other.local.passed());
  CHECK(other.by_condition);
  CHECK_FALSE(other.guilty);
  CHECK(wrong.guilty);
}

TEST_CASE("a fused step is not guilty of what rounding between its nodes does to numbers that nearly cancel") {
  const Graph graph = tests::must(parse_graph(kNorm, all_ops()));
  const std::vector<Tensor> inputs{Tensor::of<float>({2, 2}, {3000.1F, 3010.3F, 2999.9F, 3007.7F})};
  SessionOptions how;
  REQUIRE(choose_kernels(how).ok());
  how.topology = detect_topology(1);
  NodeByNode reference(graph.clone(), inputs, how, nullptr);
  const CompareReport report = tests::must(compare_with(graph, inputs, reference, {how, {}, {}}));
  REQUIRE(report.values.size() == 1);
  CHECK(report.values[0].fused.size() == 8);
  CHECK_FALSE(report.values[0].local.passed());
  CHECK(report.values[0].by_condition);
  CHECK(report.guilty == 0);
}

TEST_CASE("nodes are run with what they read, and nothing comes of what nobody has") {
  const Graph graph = tests::must(parse_graph(kNorm, all_ops()));
  std::vector<const Node*> nodes;
  for (const auto& node : graph.nodes()) nodes.push_back(node.get());
  const Tensor x = Tensor::of<float>({2, 2}, {1, 2, 5, 3});
  const Value& y = *graph.outputs()[0];
  const auto with = [&](const Tensor& given, std::optional<uint64_t> seed) {
    return tests::must(rounded_within(nodes, y, [&](const Value&) -> Result<Tensor> { return given; }, {}, seed));
  };
  CHECK_FALSE(with(Tensor(), 0));
  const Tensor a = *with(x, 0), b = *with(x, 1), again = *with(x, 0), exact = *with(x, std::nullopt);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(a.data<float>()[i] == Approx(std::array{-2, 1, 2, -1}[i]).epsilon(1e-4));
    CHECK(exact.data<float>()[i] == Approx(std::array{-2, 1, 2, -1}[i]).epsilon(1e-4));
    CHECK(a.data<float>()[i] == again.data<float>()[i]);
  }
  CHECK_FALSE(std::ranges::equal(a.data<float>(), b.data<float>()));
}
}  // namespace rounding_within_test
