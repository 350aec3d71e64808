// The graph of one training step, and of one evaluation, made of an imported network.
//
//   inputs    data.. target rate step | weights.. statistics.. states..
//                                     |    kept from step to step
//   outputs                loss right | weights.. statistics.. states..
//
// What is kept is named: a weight or statistic as in the file, a state "optimizer/<state>/<weight>".
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/graph/losses.h"
#include "engine/graph/passes/pass.h"
#include "runtime/train/optimizer.h"

namespace svengine {

struct LossChoice {
  Loss kind = Loss::cross_entropy;
  double label_smoothing = 0;                // cross_entropy, nll
  std::optional<int64_t> ignore_index = {};  // likewise
  double beta = 1;                           // smooth_l1
  std::string output = {};                   // the prediction's name; empty: the first output
  /// Of losses on labels: the prediction's dimension that counts classes; negative from the end. None: 1, but the last of rank 3
  /// ([samples, tokens, classes]).
  std::optional<int64_t> class_axis = {};

  bool on_labels() const { return kind == Loss::cross_entropy || kind == Loss::nll; }
};

struct StepGraphOptions {
  LossChoice loss;
  OptimizerOptions optimizer;
  double clip_norm = 0;  // > 0: gradients are scaled so that the norm of all of them together is at most this
  uint64_t seed = 1;
  std::function<bool(const std::string&)> frozen = [](const std::string&) { return false; };  // of constants' names
};

/// One tensor that goes from step to step.
struct Kept {
  std::string name;
  Type type;
};

struct StepGraph {
  Graph graph;
  size_t data_inputs = 0;  // the network's own come first
  size_t weights = 0, statistics = 0;
  std::vector<Kept> kept;  // weights, statistics, states: inputs data_inputs + 3 on, outputs 2 on
};

/// `network` is in the inference form (forms.h). Constants that the loss does not depend on are not trained. `context` is for
/// what simplifies the network before it is differentiated.
Result<StepGraph> make_training_step(const Graph& network, const StepGraphOptions& options, const PassContext& context);

struct EvaluationGraph {
  Graph graph;  // inputs: data.. target, then `kept`; outputs: the network's own, loss, right
  size_t data_inputs = 0;
};

/// The loss of the inference form, the named constants being inputs.
Result<EvaluationGraph> make_evaluation(const Graph& network, const LossChoice& loss, const std::vector<std::string>& kept);

/// The prediction that the loss is of; errors name the outputs there are.
Result<Value*> prediction_of(const Graph& network, const LossChoice& loss);

/// The dimension of the prediction that counts classes, not negative.
Result<int64_t> class_axis_of(const Value& prediction, const LossChoice& loss);

/// What the target must be: labels int64 without the classes' dimension, or like the prediction.
Result<Type> target_type(const Value& prediction, const LossChoice& loss);

}  // namespace svengine
