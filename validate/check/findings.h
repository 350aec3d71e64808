// What `check` has found.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "validate/check/rules.h"

namespace svengine::validate {

struct Finding {
  const Rule* rule = nullptr;
  std::string where;               // "node 'conv1' (Conv)", "initializer 'w'", "function 'd.f': node 'x' (Add)"; "" is the model
  std::string message;             // what is wrong, with numbers; both are harmless to print (printable())
  std::vector<std::string> nodes;  // names of the nodes it is about, made up where they have none; at most kMostNodes
};

/// Findings in the order in which they came, of each rule the first kMostOfRule: a hostile file has millions.
class Findings {
 public:
  static constexpr int64_t kMostOfRule = 200;
  static constexpr size_t kMostNodes = 20;

  void add(RuleName rule, std::string where, std::string message, std::vector<std::string> nodes = {});

  const std::vector<Finding>& list() const& { return list_; }
  const std::vector<Finding>& list() const&& = delete;  // `for (x : made().list())` outlives what was made
  /// Of a rule, also those that were not kept.
  int64_t count_of(const Rule& rule) const { return counts_[static_cast<size_t>(&rule - kRules)]; }
  int64_t count_of(Level level) const;
  /// How many were not kept.
  int64_t left_out() const { return left_out_; }
  /// Errors first, then warnings, then notes; otherwise as they came.
  void sort_by_level();

 private:
  std::vector<Finding> list_;
  std::array<int64_t, kRuleCount> counts_{};
  int64_t left_out_ = 0;
};

}  // namespace svengine::validate
