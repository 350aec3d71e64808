// What ONNX's operators take in every version: arity, attributes, types, as the package onnx says (onnx_schemas.txt), and what those of
// com.microsoft take, as ONNX Runtime says (microsoft_schemas.txt). record_schemas.py writes both.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace svengine::validate {

enum class Presence : uint8_t { single, optional, variadic };

struct SchemaValue {
  std::string_view name;
  std::string_view type;  // the name of a parameter, or a type
  Presence presence = Presence::single;
  bool one_type = true;  // of variadic ones: all are of one type
  int set = -1;          // the types it may have, for Schemas::types(); -1: exactly `type`
};

/// What an operator says of its input or output `i`: a variadic one stands for all behind it. Null: it has none.
inline const SchemaValue* value_at(const std::vector<SchemaValue>& list, size_t i) {
  if (i < list.size()) return &list[i];
  return !list.empty() && list.back().presence == Presence::variadic ? &list.back() : nullptr;
}

struct SchemaAttribute {
  std::string_view name;
  int type = 0;  // AttributeProto.AttributeType
  bool required = false;
};

struct Schema {
  std::string_view domain, name;
  int since = 1;
  bool deprecated = false;
  bool any_attribute = false;
  int least_inputs = 0, most_inputs = 0, least_outputs = 0, most_outputs = 0;
  std::vector<int> refused_outputs;  // numbers between least and most that are not allowed
  std::vector<SchemaValue> inputs, outputs;
  std::vector<SchemaAttribute> attributes;
};

class Schemas {
 public:
  /// Read once, on first use. Thread-safe.
  static const Schemas& get();

  /// The form of an operator in an opset; null: there is none yet, or no such operator. "ai.onnx" is "".
  const Schema* find(std::string_view domain, std::string_view name, int64_t opset) const;
  /// The oldest form of an operator; null: there is no such operator.
  const Schema* first(std::string_view domain, std::string_view name) const;
  /// Whether all operators of a domain are known: of ONNX's. ONNX Runtime has more of com.microsoft in builds for other machines.
  bool has_whole_domain(std::string_view domain) const;
  /// The newest opset of a domain; 0 where none of its operators is known.
  int newest(std::string_view domain) const;
  /// Whether a value may have a type ("float32", "seq(int64)").
  bool allows(const SchemaValue& value, std::string_view type) const;
  /// The types of a set, for messages.
  const std::vector<std::string_view>& types(int set) const { return sets_[static_cast<size_t>(set)]; }

 private:
  Schemas();
  /// Sets of types are numbered from `first_set` on in the text.
  void add_line(std::string_view line, int first_set);

  std::vector<std::vector<std::string_view>> sets_;       // each sorted
  std::vector<Schema> schemas_;                           // sorted by domain, name, since
  std::vector<std::pair<std::string_view, int>> newest_;  // of each domain
};

}  // namespace svengine::validate
