// Passes of all kinds on random graphs: what each step of the optimised graph gives has to be the value of the file that it is
// said to stand for (graph/origins.h), or `svengine compare` would find faults that are none.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/differential/compare.h"
#include "tests/differential/graph_maker.h"
#include "validate/compare/compare_models.h"

namespace origins_test {
using namespace svengine;

namespace {

void check_graph(uint64_t seed, const SessionOptions& how, size_t& values, size_t& fused) {
  Result<differential::RandomGraph> random = differential::random_graph(seed, *how.kernels, [](const std::string&) {});
  if (!random.ok() || random->special || !differential::are_finite(random->values)) return;
  INFO("seed " << seed);
  validate::NodeByNode reference(random->graph.clone(), random->inputs, how, nullptr);
  const Result<validate::CompareReport> report = validate::compare_with(random->graph, random->inputs, reference, {how, {}, {}});
  if (!report.ok()) return;  // nodes that no session runs, nothing to compare
  for (const validate::ComparedValue& v : report->values) {
    ++values;
    fused += v.fused.size() > 1;
    INFO("value " << v.value << ", step " << v.kernels << ", local error " << v.local.relative() << ", explained " << v.explained
                  << " " << v.problem << v.local.mismatch);
    CHECK_FALSE(v.guilty);
  }
}

}  // namespace

TEST_CASE("steps of optimised random graphs give what they stand for") {
  SessionOptions how;
  REQUIRE(choose_kernels(how).ok());
  how.topology = detect_topology(1);
  size_t values = 0, fused = 0;
  const char* first = std::getenv("SVENGINE_FIRST_SEED");
  const char* count = std::getenv("SVENGINE_SEEDS");
  const uint64_t begin = first ? std::strtoull(first, nullptr, 10) : 1, seeds = count ? std::strtoull(count, nullptr, 10) : 1000;
  for (uint64_t seed = begin; seed < begin + seeds; ++seed) check_graph(seed, how, values, fused);
  CHECK((values > seeds || seeds < 100));
  CHECK((fused > 0 || seeds < 100));
}
}  // namespace origins_test
