// The one intermediate representation: a graph of typed SSA values.
//
//   Graph ── inputs, outputs            Value: name, type, and either a constant or the node that produces it
//     └── nodes, topologically ordered  Node:  operator, inputs (null = optional and absent), outputs, attributes
//
// Every value has exactly one source: a graph input, a constant (initializer), or an output of one node. Users are tracked,
// so that passes can look both ways. Pointers to values and nodes stay valid until the object is erased. Not thread-safe;
// graphs that only share constants are independent.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/base/tensor.h"
#include "engine/graph/attribute.h"

namespace svengine {

struct OpDef;
class Graph;
class Node;

/// What is known of a value. The shape is always the logical one; `block` > 0 says that an image (N,C,H,W; of one
/// or three dimensions likewise) is stored as [N][ceil(C/block)][H][W][block], its padding lanes finite.
struct Type {
  DType dtype = DType::undefined;
  Shape shape;
  int block = 0;
  /// Of a sequence, optional or map (whose own shape is a scalar's): what it holds; null when that is unknown.
  std::shared_ptr<const Type> element = {};
  DType key = DType::undefined;  // of a map
  friend bool operator==(const Type& a, const Type& b);
};

/// "f32[1x3x224x224]": dtype name, shape, and "{c16}" when blocked.
std::string to_string(const Type& type);

class Value {
 public:
  const std::string& name() const { return name_; }
  Type type;

  bool is_constant() const { return constant_.defined(); }
  const Tensor& constant() const { return constant_; }
  /// The node that computes it; null for graph inputs and constants.
  Node* producer() const { return producer_; }
  bool is_input() const { return !producer_ && !is_constant(); }
  /// One entry for every input slot that holds this value; graph outputs are not counted.
  const std::vector<Node*>& users() const { return users_; }

 private:
  friend class Graph;
  std::string name_;
  Tensor constant_;
  Node* producer_ = nullptr;
  std::vector<Node*> users_;
  std::list<std::unique_ptr<Value>>::iterator position_;
};

class Node {
 public:
  const OpDef& op() const { return *op_; }
  /// As in the file; made up for nodes of passes. Only for people.
  const std::string& name() const { return name_; }
  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  /// Null when there is no such input.
  Value* input(size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  /// Null when there is no such output.
  Value* output(size_t i = 0) const { return i < outputs_.size() ? outputs_[i] : nullptr; }
  Attributes attributes;

 private:
  friend class Graph;
  const OpDef* op_ = nullptr;
  std::string name_;
  std::vector<Value*> inputs_, outputs_;
  std::list<std::unique_ptr<Node>>::iterator position_;
};

/// "node 'conv1' (Conv)" for error chains.
std::string describe(const Node& node);

class Graph {
 public:
  using NodeList = std::list<std::unique_ptr<Node>>;

  Graph() = default;
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;
  /// A copy with nodes and values of its own; constants share storage.
  Graph clone() const;

  std::string name;
  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  const NodeList& nodes() const { return nodes_; }
  /// The nodes as they are now, for passes that change the graph while they walk it.
  std::vector<Node*> snapshot() const;
  size_t value_count() const { return values_.size(); }
  void for_each_value(const std::function<void(Value&)>& visit) const;

  /// New values. An empty or taken name is made unique.
  Value* add_input(std::string name, Type type);
  Value* add_constant(std::string name, Tensor tensor);
  void add_output(Value* value) { outputs_.push_back(value); }
  /// Removes the outputs from number `count` on.
  void resize_outputs(size_t count) { outputs_.resize(count); }

  /// Appends a node (or inserts it before `before`) with `outputs` new values of unknown type. Does not infer types: see
  /// Builder for that. Output names: `names` where given ("" = made up from the node's name).
  Node* add_node(const OpDef& op, std::string name, std::vector<Value*> inputs, size_t outputs, Attributes attributes = {},
                 Node* before = nullptr, std::vector<std::string> names = {});

  void set_input(Node* node, size_t slot, Value* value);
  void resize_inputs(Node* node, size_t count);
  /// Appends outputs of unknown type until the node has `count`.
  void grow_outputs(Node* node, size_t count);
  void set_op(Node* node, const OpDef& op) { node->op_ = &op; }
  /// Every user of `from`, and every graph output that is `from`, takes `to` instead. When `from` is a graph output, `to`
  /// takes over its name, unless `to` is an input, a constant, or an output itself.
  void replace_uses(Value* from, Value* to);
  /// The same where the producer of `to` was changed in place, and computes now what `from` was: what `to` has been, nothing is any more.
  void replace_absorbed(Value* from, Value* to);
  /// Removes a node whose outputs nobody uses, and these outputs.
  void erase(Node* node);
  /// Removes constants that nobody uses.
  void erase_unused_constants();
  /// Turns a value into a constant: its producer forgets it. A graph input stops being one.
  void make_constant(Value* value, Tensor tensor);
  /// Turns a constant into the last graph input, of the same name and type, and gives back its value.
  Tensor make_input(Value* constant);
  /// Removes a graph input that nobody uses.
  void erase_input(Value* input);
  /// The node before it in the order; null: it is the first.
  Node* previous(const Node& node) const;
  /// Moves a node to just before another one in the order.
  void move_before(Node* node, Node* before);
  bool is_output(const Value* value) const;
  /// The old name becomes free.
  void rename(Value* value, std::string name);
  void set_output(size_t index, Value* value) { outputs_[index] = value; }

 private:
  Value* new_value(std::string name, Type type);
  std::string unique_name(std::string wanted);
  void erase_value(Value* value);
  void drop_user(Value* value, Node* user);

  NodeList nodes_;
  std::list<std::unique_ptr<Value>> values_;
  std::vector<Value*> inputs_, outputs_;
  struct Names;
  struct NamesDeleter {
    void operator()(Names* names) const;
  };
  std::unique_ptr<Names, NamesDeleter> names_;
};

}  // namespace svengine
