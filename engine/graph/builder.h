// Builds graphs: adds nodes by operator name and infers types as it goes. Used by the importer, the zoo, passes and tests.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "engine/graph/op_registry.h"

namespace svengine {

/// The first failure is kept and later calls do nothing but return it: check status() once at the end. Not thread-safe.
class Builder {
 public:
  Builder(Graph& graph, const OpRegistry& ops) : graph_(graph), ops_(ops) {}

  Value* input(std::string name, DType dtype, Shape shape) { return graph_.add_input(std::move(name), {dtype, std::move(shape), 0}); }
  Value* constant(Tensor tensor, std::string name = "c") { return graph_.add_constant(std::move(name), std::move(tensor)); }
  Value* integers(std::initializer_list<int64_t> values, std::string name = "c") {
    return constant(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values), std::move(name));
  }

  /// One node of the default domain with one output.
  Value* add(std::string_view op, std::vector<Value*> inputs, Attributes attributes = {}, std::string name = {});
  /// Any node; the outputs are node->outputs(). Null after a failure.
  Node* node(std::string_view domain, std::string_view op, std::vector<Value*> inputs, size_t outputs, Attributes attributes = {},
             std::string name = {}, std::vector<std::string> output_names = {});

  void output(Value* value, std::string name = {});
  /// New nodes go before this one (null: at the end).
  void set_position(Node* before) { before_ = before; }
  /// What new nodes are called that are given no name (empty: as their operator).
  void set_node_name(std::string name) { node_name_ = std::move(name); }

  Graph& graph() { return graph_; }
  const Status& status() const { return status_; }
  /// Keeps the caller's failure as if it were the builder's own.
  void note(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

 private:
  Graph& graph_;
  const OpRegistry& ops_;
  Node* before_ = nullptr;
  std::string node_name_;
  Status status_;
};

/// Attributes from a list: attributes({{"axis", int64_t{1}}}).
Attributes make_attributes(std::initializer_list<std::pair<const char*, Attribute>> list);

}  // namespace svengine
