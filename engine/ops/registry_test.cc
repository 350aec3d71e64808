#include <catch2/catch.hpp>
#include <map>

#include "engine/ops/registry.h"
#include "engine/ops/samples.h"

namespace registry_test {
using namespace svengine;

TEST_CASE("every operator is found by its name: its definition's function is called after it") {
  CHECK(all_ops().all().size() == all_ops().size());
  for (const OpDef& op : all_ops().all()) {
    CAPTURE(op.domain, op.name);
    CHECK(all_ops().find_own(op.domain, op.name) == &op);
  }
  CHECK(all_ops().find("ai.onnx", "AveragePool") == all_ops().find("", "AveragePool"));
  for (const char* name : {"averagepool", "average_pool", "AveragePoo", ""}) CHECK_FALSE(all_ops().find("", name));
  CHECK_FALSE(all_ops().find("com.example", "AveragePool"));
}

TEST_CASE("the samples of every operator can be read") {
  for (const OpDef& op : all_ops().all()) {
    const Result<std::vector<Sample>> samples = parse_samples(op.samples, all_ops());
    INFO(op.name << ": " << (samples.ok() ? "" : samples.error().message()));
    CHECK(samples.ok());
    CHECK(samples_of(op).empty() == op.samples.empty());
  }
}

TEST_CASE("the newest opset of a domain is that of its newest operator") {
  std::map<std::string, int> newest;
  for (const OpDef& op : all_ops().all()) newest[op.domain] = std::max(newest[op.domain], op.until);
  CHECK(newest.size() == std::size(kDomains) + 1);
  for (const auto& [domain, opset] : newest) {
    CAPTURE(domain);
    CHECK(all_ops().newest_opset(domain) == opset);
  }
  CHECK(all_ops().newest_opset("com.example") == 0);
}

}  // namespace registry_test
