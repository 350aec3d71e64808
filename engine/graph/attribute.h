// Attributes of a node: named constants of one of ONNX's kinds.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/tensor.h"

namespace svengine {

class Graph;
/// The body of an If, Loop or Scan. What it captures of the outer graph are inputs behind its own, and inputs of the node behind the
/// node's own, in the same order.
using Subgraph = std::shared_ptr<const Graph>;

using Attribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, std::vector<std::string>, Tensor, Subgraph>;

/// Which alternative an Attribute holds; the order is that of the variant.
enum class AttributeKind { kInt, kFloat, kString, kInts, kFloats, kStrings, kTensor, kGraph };
std::string_view name_of(AttributeKind kind);
inline AttributeKind kind_of(const Attribute& a) { return static_cast<AttributeKind>(a.index()); }

class AttributeTables;

/// A small ordered map. Copies share what they hold until one is changed, for nodes may hold tables of megabytes, and graphs are copied for every
/// set of shapes. Lookups of an absent name give the default; lookups of another kind too (the verifier and the
/// importer have refused wrong kinds before).
class Attributes {
 public:
  using Entry = std::pair<std::string, Attribute>;

  const Attribute* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  void set(std::string name, Attribute value);
  void erase(std::string_view name);

  template <class T>
  const T* get(std::string_view name) const {
    const Attribute* a = find(name);
    return a ? std::get_if<T>(a) : nullptr;
  }
  int64_t get_int(std::string_view name, int64_t default_value = 0) const;
  /// The element type that the number is of; undefined where it is of none.
  DType get_dtype(std::string_view name, DType default_value) const;
  float get_float(std::string_view name, float default_value = 0) const;
  std::string get_string(std::string_view name, std::string default_value = {}) const;
  std::vector<int64_t> get_ints(std::string_view name, std::vector<int64_t> default_value = {}) const;

  std::vector<Entry>::const_iterator begin() const { return entries().begin(); }
  std::vector<Entry>::const_iterator end() const { return entries().end(); }
  bool empty() const { return entries().empty(); }

  /// What has been made of these attributes, for table_of() (attribute_tables.h): shared with copies until either is changed. Null where
  /// none was ever set.
  const std::shared_ptr<AttributeTables>& tables() const { return tables_; }

 private:
  const std::vector<Entry>& entries() const;
  /// The entries, to be changed: nobody else sees it. What has been made of them is forgotten.
  std::vector<Entry>& own_entries();

  std::shared_ptr<std::vector<Entry>> entries_;  // null: none
  std::shared_ptr<AttributeTables> tables_;
};

}  // namespace svengine
