// Cut and changed models: findings or an error, never a crash, and texts that are harmless to print. Sanitizer builds make this test sharp.
#include <random>

#include "validate/check/check_test_util.h"

namespace mutation_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

/// One model for every rule that is broken by few bytes.
std::vector<std::string> broken_models() {
  std::vector<std::string> out;
  constexpr size_t kMostBytes = 2000;
  for (const auto& cases : {model_cases(), node_cases(), type_cases(), tensor_cases()}) {
    for (const RuleCase& c : cases) {
      ModelProto model = good_model();
      c.breaks(model);
      std::string bytes = model.SerializeAsString();
      if (bytes.size() <= kMostBytes) out.push_back(std::move(bytes));
    }
  }
  return out;
}

void check_harmless(const Result<validate::CheckReport>& report) {
  const std::string text = report.ok() ? findings_text(*report) : report.error().message();
  for (const char c : text) {
    if (c == '\n' || static_cast<unsigned char>(c) >= 0x20) continue;
    FAIL_CHECK("a control character in: " << printable(text, 500));
    return;
  }
}

std::string changed(std::string model, std::mt19937& random) {
  const auto below = [&](size_t n) { return random() % n; };
  for (size_t changes = 1 + below(4); changes > 0 && !model.empty(); --changes) {
    const size_t at = below(model.size());
    switch (below(6)) {
      case 0: model[at] = static_cast<char>(random()); break;
      case 1: model[at] = static_cast<char>(model[at] ^ (1 << below(8))); break;
      case 2: model.erase(at, 1 + below(8)); break;
      case 3: model.insert(at, model.substr(below(model.size()), below(32))); break;
      case 4: model[at] = static_cast<char>(0xff); break;
      default: model[at] = static_cast<char>(below(30)); break;
    }
  }
  return model;
}

}  // namespace

TEST_CASE("every truncation of a model is told, and none of it crashes") {
  const std::string model = good_model().SerializeAsString();
  for (size_t n = 0; n < model.size(); ++n) {
    INFO("cut at " << n);
    const Result<validate::CheckReport> report = check_bytes(model.substr(0, n));
    check_harmless(report);
    CHECK((!report.ok() || report->findings.count_of(validate::Level::error) > 0));
  }
}

TEST_CASE("random changes of models that break every rule end in findings or an error") {
  const std::vector<std::string> models = broken_models();
  REQUIRE(models.size() > 100);
  std::mt19937 random(20261123);
  int readable = 0;
  constexpr int kCases = 20000;
  for (int i = 0; i < kCases; ++i) {
    const Result<validate::CheckReport> report = check_bytes(changed(models[random() % models.size()], random));
    check_harmless(report);
    readable += report.ok();
  }
  CHECK(readable > kCases / 10);
  CHECK(readable < kCases);
}
}  // namespace mutation_test
