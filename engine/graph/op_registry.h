// The operators that there are, found by domain and name.
//
// A program that runs one model needs few of them, so a definition is made when its operator is first asked for. What a registry
// holds from the start is a key of each operator's name and the function that makes its definition:
//
//     define_average_pool ── operator_key("average_pool") ─┐
//                                                          ├─ equal: this definition is made, and its domain and name compared
//     find("", "AveragePool") ── operator_key("AveragePool") ┘
//
// Operators of different domains may have one key (Attention of ai.onnx and of com.microsoft): each of them is made and compared.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "engine/graph/op_def.h"

namespace svengine {

/// Of a name as ONNX writes it or as C++ does: equal for "AveragePool" and "average_pool". FNV-1a of the letters and digits.
constexpr uint64_t operator_key(std::string_view name) {
  uint64_t key = 0xcbf29ce484222325;
  for (const char c : name)
    if (c != '_') key = (key ^ static_cast<uint64_t>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c)) * 0x100000001b3;
  return key;
}

/// How an operator's definition is made, before anybody asked for it.
struct OpDefinition {
  uint64_t key;  // operator_key of the name that the definition will have
  OpDef (*define)();
};

/// Where a registry looks for operators that it has not itself. Thread-safe functions; what they give stays.
struct MoreOperators {
  const OpDef* (*find)(std::string_view domain, std::string_view name) = nullptr;
  int (*newest_opset)(std::string_view domain) = nullptr;
};

/// Finds operators. Thread-safe once built; what it gives stays where it is as long as the registry lives.
class OpRegistry {
 public:
  /// The spans outlive the registry; `domains` has every domain of the definitions but ai.onnx.
  OpRegistry(std::span<const OpDefinition> definitions, std::span<const DomainOpset> domains, MoreOperators more = {});
  /// Of definitions that are made already.
  explicit OpRegistry(std::vector<OpDef> ops);
  ~OpRegistry();

  /// Null when there is none. Domains are compared as canonical_domain gives them.
  const OpDef* find(std::string_view domain, std::string_view name) const;
  /// The same among its own.
  const OpDef* find_own(std::string_view domain, std::string_view name) const;
  /// Its own, by domain and name. Makes them all.
  const std::vector<std::reference_wrapper<const OpDef>>& all() const;
  size_t size() const { return size_; }
  /// The newest opset of a domain whose operators it knows; 0: it has none of this domain.
  int newest_opset(std::string_view domain) const;

 private:
  struct Entry;
  const OpDef& made(Entry& entry) const;

  std::unique_ptr<Entry[]> entries_;  // sorted by key
  size_t size_;
  std::span<const DomainOpset> domains_ = {};
  MoreOperators more_ = {};
  mutable std::once_flag sorted_once_;
  mutable std::vector<std::reference_wrapper<const OpDef>> sorted_ = {};
};

}  // namespace svengine
