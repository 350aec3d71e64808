// Which optimiser, with which numbers, from a text; and its step as a node.
//
//   sgd:momentum=0.9,nesterov=1,weight_decay=5e-4     PyTorch's SGD
//   adam:beta1=0.9,beta2=0.999,epsilon=1e-8,weight_decay=0     PyTorch's Adam: the decay is part of the gradient
//   adamw:beta1=0.9,beta2=0.999,epsilon=1e-8,weight_decay=0.01  PyTorch's AdamW: the decay stands beside it
//   adagrad:epsilon=1e-10,weight_decay=0              PyTorch's Adagrad
//   lars:trust=1e-3,momentum=0.9,weight_decay=0,skip_vectors=0                You, Gitman, Ginsburg 2017, arXiv 1708.03888
//   lamb:beta1=0.9,beta2=0.999,epsilon=1e-6,weight_decay=0.01,skip_vectors=0  You et al., ICLR 2020, arXiv 1904.00962
//
// skip_vectors=1 leaves tensors of rank 1 (biases, scales of norms) at the plain rate and without decay, as is common practice for
// large batches; the papers treat all alike. The numbers shown are the defaults, but for sgd's, which are 0.
#pragma once
#include <string>
#include <vector>

#include "engine/graph/builder.h"

namespace svengine {

struct OptimizerOptions {
  enum class Kind : int8_t { sgd, adam, adamw, adagrad, lars, lamb };

  Kind kind = Kind::sgd;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double trust = 1e-3;
  bool skip_vectors = false;

  /// From a text as above, without blanks. The error names what is wrong with it and what would be right.
  static Result<OptimizerOptions> parse(const std::string& text);

  /// The text with everything in it that was left out; equal optimisers have equal texts.
  std::string text() const;

  /// What it keeps of every weight between steps, each of the weight's shape and zero at first: {"velocity"}, {"mean", "square"}.
  std::vector<const char*> states() const;
};

/// Adds the step for one weight. `rate` is a float32 of rank 0, `step` the int64 number of steps done before; `states` are in the
/// order of states(). Returns the new weight and the new states; nothing after a failure, which the builder keeps.
std::vector<Value*> add_optimizer_step(Builder& builder, const OptimizerOptions& options, Value* rate, Value* step, Value* weight,
                                       Value* gradient, const std::vector<Value*>& states);

}  // namespace svengine
