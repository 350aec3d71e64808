// Random graphs hold what their moves are for: a move whose nodes were always refused would find nothing.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>

#include "engine/graph/bodies.h"
#include "tests/differential/graph_maker.h"

namespace moves_test {
using namespace svengine;

namespace {

void count_operators(const Graph& graph, std::map<std::string, int>& counts) {
  for (const auto& node : graph.nodes()) {
    ++counts[node->op().name + std::string(is_container(node->output()->type.dtype) ? ", a sequence" : "")];
    for (const Body& body : bodies_of(*node)) count_operators(body.graph, counts);
  }
}

}  // namespace

TEST_CASE("random graphs have control flow, sequences and optionals") {
  const char* few = std::getenv("SVENGINE_SEEDS");
  std::map<std::string, int> counts;
  for (uint64_t seed = 1; seed <= (few ? 250u : 600u); ++seed) {
    const Result<differential::RandomGraph> random =
        differential::random_graph(seed, *kernels::find_kernel_set("reference"), [](const std::string&) {});
    if (random.ok()) count_operators(random->graph, counts);
  }
  for (const char* name : {"SequenceConstruct", "SequenceEmpty", "SplitToSequence", "SequenceInsert", "SequenceErase", "If", "Loop", "Identity",
                           "Optional", "OptionalGetElement"}) {
    INFO(name);
    CHECK(counts[std::string(name) + ", a sequence"] > 0);
  }
  for (const char* name : {"If", "Loop", "Scan", "SequenceAt", "ConcatFromSequence", "SequenceLength", "OptionalGetElement", "OptionalHasElement"}) {
    INFO(name);
    CHECK(counts[name] > 0);
  }
}
}  // namespace moves_test
