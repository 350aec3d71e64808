// Every rule has a model that breaks it, and a good model breaks none.
#include <set>

#include "validate/check/check_test_util.h"

void svengine::tests::check_cases(const std::vector<RuleCase>& cases, const std::string& folder) {
  for (const RuleCase& c : cases) {
    ModelProto model = good_model();
    c.breaks(model);
    const Result<validate::CheckReport> report = check_bytes(model.SerializeAsString(), {.opset = c.opset}, folder);
    INFO(c.rule << ": wanted '" << c.says << "'");
    if (!report.ok()) {
      FAIL_CHECK(report.error().message());
      continue;
    }
    INFO(findings_text(*report));
    bool found = false;
    for (const validate::Finding& f : report->findings.list())
      found = found || (f.rule->name == c.rule && (f.where + ": " + f.message).find(c.says) != std::string::npos);
    CHECK(found);
  }
}

namespace rules_test {
using namespace svengine;
using namespace svengine::tests;

TEST_CASE("a good model has no findings") {
  CHECK(findings_of(good_model()).empty());
  CHECK(findings_of(good_model(), {.opset = 17}).empty());
}

TEST_CASE("every rule has a model that breaks it") {
  std::set<std::string> broken;
  for (const auto& cases : {model_cases(), node_cases(), type_cases(), tensor_cases()})
    for (const RuleCase& c : cases) broken.insert(c.rule);
  for (const validate::Rule& rule : validate::kRules) {
    INFO(rule.name);
    CHECK(broken.erase(std::string(rule.name)) == 1);
  }
  CHECK(broken.empty());  // no case of a rule that is not there
}

TEST_CASE("names of rules are different, in kebab-case, with a line each") {
  std::set<std::string_view> names;
  for (const validate::Rule& rule : validate::kRules) {
    INFO(rule.name);
    CHECK(names.insert(rule.name).second);
    CHECK(rule.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    CHECK(rule.what.size() > 10);
    CHECK(rule.what.find('\n') == std::string_view::npos);
    CHECK(rule.what.find('|') == std::string_view::npos);  // of the documents' table
  }
}

TEST_CASE("all that is wrong is found in one run") {
  ModelProto model = good_model();
  model.add_opset_import()->set_version(17);
  add_tail(model, "Nonsense", {"nowhere"});
  add_node(model, "Transpose", {"x"}, {"x"}, "twice");
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_value(4);
  model.mutable_graph()->mutable_initializer(0)->set_raw_data("abcd");
  const std::string text = findings_of(model);
  INFO(text);
  for (const char* rule : {"opset-twice", "operator-unknown", "value-undefined", "value-twice", "declared-shape", "tensor-data"}) {
    INFO(rule);
    CHECK(text.find(rule) != std::string::npos);
  }
  CHECK(text.find("'tail' (Nonsense)") != std::string::npos);
}

TEST_CASE("of a rule at most so many findings are kept, all are counted, errors come first") {
  ModelProto model = good_model();
  constexpr int kMany = 1000;
  for (int i = 0; i < kMany; ++i) add_node(model, "Relu", {fmt::format("none{}", i)}, {fmt::format("o{}", i)});
  add_initializer(model, "idle", {1}, {1});
  const Result<validate::CheckReport> report = check_bytes(model.SerializeAsString());
  REQUIRE(report.ok());
  CHECK(report->findings.count_of(validate::Level::error) == kMany);
  CHECK(report->findings.left_out() == kMany - validate::Findings::kMostOfRule);
  CHECK(report->findings.list().size() == static_cast<size_t>(validate::Findings::kMostOfRule));
  CHECK(report->findings.list().front().rule->level == validate::Level::error);
}
}  // namespace rules_test
