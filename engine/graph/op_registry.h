// The operators that there are, found by domain and name.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "engine/graph/op_def.h"

namespace svengine {

/// Where a registry looks for operators that it has not itself. Thread-safe functions; what they give stays.
struct MoreOperators {
  const OpDef* (*find)(std::string_view domain, std::string_view name) = nullptr;
  int (*newest_opset)(std::string_view domain) = nullptr;
};

/// Finds operators. Immutable and thread-safe once built.
class OpRegistry {
 public:
  explicit OpRegistry(std::vector<OpDef> ops, MoreOperators more = {});
  /// Null when there is none. Domains are compared as canonical_domain gives them.
  const OpDef* find(std::string_view domain, std::string_view name) const;
  /// The same among its own.
  const OpDef* find_own(std::string_view domain, std::string_view name) const;
  /// Its own, by domain and name.
  const std::vector<OpDef>& all() const { return ops_; }
  /// The newest opset of a domain whose operators it knows; 0: it has none of this domain.
  int newest_opset(std::string_view domain) const;

 private:
  std::vector<OpDef> ops_;  // sorted by domain and name
  std::vector<std::pair<std::string_view, std::string_view>> keys_;  // these of ops_
  MoreOperators more_;
};

}  // namespace svengine
