#include <catch2/catch.hpp>

#include "engine/ops/registry.h"
#include "engine/ops/samples.h"

namespace registry_test {
using namespace svengine;

TEST_CASE("operators are found by domain and name") {
  for (const OpDef& op : all_ops().all()) CHECK(all_ops().find_own(op.domain, op.name) == &op);
  CHECK(all_ops().find("ai.onnx", "AveragePool") == all_ops().find("", "AveragePool"));
  for (const char* name : {"averagepool", "average_pool", "AveragePoo", ""}) CHECK_FALSE(all_ops().find("", name));
  CHECK_FALSE(all_ops().find("com.example", "AveragePool"));
  CHECK(all_ops().newest_opset(kMlDomain) == kNewestMlOpset);
  CHECK(all_ops().newest_opset("com.example") == 0);
}

TEST_CASE("the samples of every operator can be read") {
  for (const OpDef& op : all_ops().all()) {
    const Result<std::vector<Sample>> samples = parse_samples(op.samples, all_ops());
    INFO(op.name << ": " << (samples.ok() ? "" : samples.error().message()));
    CHECK(samples.ok());
    CHECK(samples_of(op).empty() == op.samples.empty());
  }
}

}  // namespace registry_test
