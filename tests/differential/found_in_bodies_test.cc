// What random graphs with control flow have found and no other test did.
#include "engine/graph/text.h"
#include "tests/passes/pass_test_util.h"

namespace found_in_bodies_test {
using namespace svengine;
using namespace svengine::tests;

TEST_CASE("what no trip gives has the same shape whether a node of the body or only its parts would refuse the trip") {
  // 35000016121 of other shapes: the parts of a ConvTransposeWithDynamicPads found that W had none of the channels of X.
  const auto graph_with = [](std::string_view node) {
    Result<Graph> graph = parse_graph(
        fmt::format("graph \"g\"\ninput %n: int64[]\ninput %x: float32[a, b, c]\ninput %w: float32[d, e, f]\n"
                    "%y: float32[?, ?, ?, ?] = Loop(%n, -, %x, %w) {{body = graph \"body\" {{\n  input %i: int64[]\n  input %on: bool[]\n"
                    "  input %x: float32[?, ?, ?]\n  input %w: float32[?, ?, ?]\n  %t: float32[?, ?, ?] = {}\n"
                    "  output %on\n  output %t\n}}, captured = 2}}\noutput %y\n",
                    node),
        all_ops());
    if (!graph.ok()) FAIL(graph.error().message());
    return std::move(graph).value();
  };
  const std::pair<const char*, Dims> trips[] = {{"com.microsoft.ConvTransposeWithDynamicPads(%x, %w) {group = 2}", {0, 3, 3}},
                                                {"ConvTranspose(%x, %w) {group = 2}", {0, 3, 3}},
                                                {"com.microsoft.NhwcConv(%x, %w) {strides = [2, 2]}", {5, 1, 4}}};
  for (const auto& [node, weights] : trips) {
    INFO(node);
    const std::vector<Tensor> inputs = {Tensor::scalar<int64_t>(0), random_tensor({1, 2, 4}, 1), random_tensor(weights, 2)};
    const std::vector<Tensor> results = session_run(graph_with(node), inputs);
    check_close(results, evaluated(graph_with(node), inputs), "session");
    CHECK(results[0].dims() == Dims{0, 0, 0, 0});
  }
}
}  // namespace found_in_bodies_test
