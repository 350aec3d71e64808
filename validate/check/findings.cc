#include "validate/check/findings.h"

#include <algorithm>
#include <utility>

#include "importers/io/names.h"

namespace svengine::validate {
namespace {

constexpr size_t kMostText = 2000;  // a message may quote an attribute

}  // namespace

std::string_view name_of(Level level) {
  switch (level) {
    case Level::error:
      return "error";
    case Level::warning:
      return "warning";
    default:
      return "note";
  }
}

void Findings::add(RuleName rule, std::string where, std::string message, std::vector<std::string> nodes) {
  if (counts_[rule.index()]++ >= kMostOfRule) {
    ++left_out_;
    return;
  }
  if (nodes.size() > kMostNodes) nodes.resize(kMostNodes);
  for (std::string& name : nodes) name = printable(name, kMaxName);
  list_.push_back({&rule.rule(), printable(where, kMostText), printable(message, kMostText), std::move(nodes)});
}

int64_t Findings::count_of(Level level) const {
  int64_t sum = 0;
  for (size_t i = 0; i < kRuleCount; ++i)
    if (kRules[i].level == level) sum += counts_[i];
  return sum;
}

void Findings::sort_by_level() {
  std::stable_sort(list_.begin(), list_.end(), [](const Finding& a, const Finding& b) { return a.rule->level > b.rule->level; });
}

}  // namespace svengine::validate
