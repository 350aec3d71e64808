// Composite operators: what other operators compute together, as ONNX's function bodies do. They have OpDef::expand, a rule, in
// place of `lower` and `evaluate`. The importer leaves their nodes as they are (types are inferred and checked, and passes see
// their names in errors); the pass `expand` puts the nodes that the rule adds in their place.
//
// A rule calls set(i, v) for every output that is read; these then take the place of its outputs, and the node goes. It may set
// nothing where something that it needs (a rank, the size of a head) is not known yet: it is asked again when all shapes are
// concrete, and then a node without its outputs is an error. Values of types float16 and bfloat16 are added as such; what
// the specification computes in float32 is cast by the rule.
#pragma once
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/graph/builder.h"

namespace svengine {

/// Operands that inference could not compare may broadcast to more than the output that it has promised (a skip connection of a
/// larger batch, say), and what a node is made of does not know of the promise. So a node waits for concrete shapes where what is
/// made of it has not certainly the output's shape, or does not refuse what the node would (passes/early_expansion.h).
enum class UncertainShapes : uint8_t { wait, taken };

class ExpandContext {
 public:
  ExpandContext(Node& node, Builder& builder, UncertainShapes uncertain)
      : node_(node), builder_(builder), uncertain_(uncertain), results_(node.outputs().size()) {}

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  Builder& builder() { return builder_; }
  /// Null when there is no such input.
  Value* input(size_t i) const { return node_.input(i); }
  bool has_input(size_t i) const { return node_.input(i) != nullptr; }
  /// Somebody reads output i. Others need not be set.
  bool has_output(size_t i) const;
  const Shape& shape(size_t i) const { return input(i)->type.shape; }
  DType dtype(size_t i) const { return input(i)->type.dtype; }
  /// Dimension `d` of input i where it is known; negative ones count from the end.
  std::optional<int64_t> dim(size_t i, int64_t d) const;

  /// Whether the rule shall wait, and set nothing, because `a` must not broadcast against `b` and their shapes are not certainly the same.
  bool waits_for_same_shape(const Value* a, const Value* b) const;

  /// One node with one output, of ai.onnx or of the engine. Null after a failure, which the builder keeps; null inputs are
  /// absent.
  Value* op(std::string_view name, std::vector<Value*> inputs, Attributes attributes = {});
  Value* internal(std::string_view name, std::vector<Value*> inputs, Attributes attributes = {});
  /// A constant int64 vector.
  Value* ints(std::vector<int64_t> values);
  /// A number of a floating-point or integer type, as a rank-0 constant.
  Value* number(double value, DType type);

  /// Short forms. `cast` gives the value itself where it has that type already.
  Value* cast(Value* v, DType type);
  /// What the first output of the body that is attribute `name` is for this input and what the node's bodies capture, which are its
  /// last inputs (attribute "captured"). The body has been checked.
  Value* body(std::string_view name, Value* input);
  Value* reshape(Value* v, std::vector<int64_t> dims);  // 0 keeps a dimension, one may be -1
  Value* reshape_like(Value* v, Value* like);           // without elements, too
  Value* transpose(Value* v, std::vector<int64_t> perm);
  Value* slice(Value* v, int64_t axis, int64_t begin, int64_t end);
  Value* unsqueeze(Value* v, std::vector<int64_t> axes) { return op("Unsqueeze", {v, ints(std::move(axes))}); }
  Value* concat(std::vector<Value*> values, int64_t axis);
  /// Dimension `d` of v as an int64 vector of one element, and as a scalar: constants where it is known.
  Value* size_of_dim(Value* v, int64_t d);
  Value* scalar_of_dim(Value* v, int64_t d);
  /// int64 from 0 up to that scalar.
  Value* up_to(Value* count) { return op("Range", {number(0, DType::i64), count, number(1, DType::i64)}); }

  /// Output i of the node; nothing happens where it has none.
  void set(size_t i, Value* v) {
    if (i < results_.size()) results_[i] = v;
  }
  const std::vector<Value*>& results() const { return results_; }

 private:
  Node& node_;
  Builder& builder_;
  UncertainShapes uncertain_;
  std::vector<Value*> results_;
};

/// Adds what the node's OpDef::expand makes of it and lets that take the place of the node's outputs, whose types are inferred.
/// Nothing happens where the node waits, or the rule sets nothing and shapes are not concrete yet.
Status expand_node(Graph& graph, Node& node, const OpRegistry& ops, UncertainShapes uncertain);

/// Whether what the node is made of takes its inputs as well, whose shapes may have been inferred by less: tried in a graph of its own.
/// Nothing is found where the rule waits for what is not known, or the operator is no composite one. The node's types have been inferred.
Status check_expansion(const Node& node, const OpRegistry& ops);

struct PassContext;
/// A pass: expands every composite node that can be. Plans hold none.
Status expand_composites(Graph& graph, const PassContext& context);
/// Likewise before differentiation, which cannot wait for shapes.
Status expand_composites_now(Graph& graph, const PassContext& context);
/// Expands the composite nodes, their inputs' shapes being known, that a plan cannot hold: whose outputs' shapes only the nodes tell that they are
/// made of (com.microsoft's Unique, convolutions with the channels last), or that have host parts. All others are expanded when they are planned.
Status expand_unplannable(Graph& graph, const PassContext& context);
/// What plans need where nothing is optimised: no composite nodes, none of types that have no kernels; results are rounded node by node.
Status make_runnable(Graph& graph, const PassContext& context);

}  // namespace svengine
