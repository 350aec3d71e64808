// What OpDef::gradient sees: a node of the forward graph, the gradients of its outputs, and the means to add nodes.
//
// A rule calls set(i, g) for every input i that wants a gradient; an input left out has gradient zero. Gradients have the type of
// what they are the gradient of: `sum_to` undoes broadcasting. Shapes may be symbolic wherever the forward node's may: the nodes
// below take "the shape of that value" as an input of which only the shape is read (OpTraits::shape_only_input).
#pragma once
#include <string_view>
#include <vector>

#include "engine/graph/builder.h"

namespace svengine {

class GradientContext {
 public:
  /// `gradients` has one entry for every output of the node (null: none), `wanted` one for every input. New nodes go where the
  /// builder stands.
  GradientContext(Node& node, Builder& builder, std::vector<Value*> gradients, std::vector<bool> wanted)
      : node_(node), builder_(builder), gradients_(std::move(gradients)), wanted_(std::move(wanted)), results_(wanted_.size()) {}

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  Builder& builder() { return builder_; }
  Value* input(size_t i) const { return node_.input(i); }
  /// Output i; an optional one that the node does not have yet is added to it.
  Value* output(size_t i = 0);

  /// The gradient of output i; null when the result does not depend on that output.
  Value* output_gradient(size_t i) const { return i < gradients_.size() ? gradients_[i] : nullptr; }
  /// That of output 0, which every operator with one floating-point output can rely on.
  Value* dy() const { return output_gradient(0); }
  /// Input i is there and on a path to a value whose gradient is asked for.
  bool wants(size_t i) const { return i < wanted_.size() && wanted_[i]; }
  /// The gradient of input i, for each i at most once.
  void set(size_t i, Value* gradient) { results_[i] = gradient; }
  const std::vector<Value*>& results() const { return results_; }

  /// One node with one output, of ai.onnx or of the engine. After a failure, which the builder keeps, some other value, never null: rules ask for
  /// results' types, and what they make of it is thrown away.
  Value* op(std::string_view name, std::vector<Value*> inputs, Attributes attributes = {});
  Value* internal(std::string_view name, std::vector<Value*> inputs, Attributes attributes = {});

  /// `value`, which has the shape that `like` broadcasts to, summed over what repeats: of the shape of `like`.
  Value* sum_to(Value* value, Value* like);
  /// `value` repeated to the shape of `like`; `mean` divides by the number of repetitions.
  Value* expand_to(Value* value, Value* like, bool mean = false);
  /// The elements of `value` under the shape of `like`.
  Value* reshape_to(Value* value, Value* like);
  Value* zeros_like(Value* like);
  /// A number of the type of `like`, as a rank-0 constant.
  Value* scalar(double value, const Value* like);

 private:
  Value* add(std::string_view domain, std::string_view name, std::vector<Value*> inputs, Attributes attributes);
  Node& node_;
  Builder& builder_;
  std::vector<Value*> gradients_;
  std::vector<bool> wanted_;
  std::vector<Value*> results_;
};

/// A value filled with one number, of the type and (possibly symbolic) shape of `like`.
Value* filled_like(Builder& builder, Value* like, double number);

/// For OpDef::gradient: an operator that is constant almost everywhere (Floor, Sign, ...). Its inputs get gradient zero.
Status zero_gradient(GradientContext& c);

}  // namespace svengine
