// The graph of one training step, and of one evaluation, built of an imported network.
//
//   inputs    data.. target rate step | weights.. statistics.. states..
//                                     |    kept from step to step
//   outputs                loss right | weights.. statistics.. states..
//
// What is kept is named: a weight or statistic as in the file, a state "optimizer/<state>/<weight>".
//
// Where gradients of several batches are accumulated, the step is two graphs. The first runs for every batch and leaves the weights
// alone, the second ends a group of batches; share is 1 / (batches of the group), and sums "accumulated/<weight>" stand before states:
//
//   a batch    data.. target rate step | weights.. statistics.. sums..    ->  loss right | statistics.. sums..
//   update     rate step share | weights.. sums.. states..                ->  weights.. states..
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

  /// cross_entropy, nll: one weight a class, by which its samples count; the mean is over the sum of weights. Empty: all 1.
  std::vector<float> class_weights = {};

  bool on_labels() const { return kind == Loss::cross_entropy || kind == Loss::nll; }
};

struct StepGraphOptions {
  LossChoice loss;
  OptimizerOptions optimizer;
  int64_t accumulate = 1;  // batches whose mean gradient a step of the optimiser takes
  double clip_norm = 0;  // > 0: gradients are scaled so that the norm of all of them together is at most this
  uint64_t seed = 1;
  std::function<bool(const std::string&)> frozen = [](const std::string&) { return false; };  // of constants' names
};

/// One tensor that goes from step to step.
struct StateTensor {
  std::string name;
  Type type;
};

struct StepGraph {
  Graph graph;
  size_t data_inputs = 0;  // the network's own come first
  Graph update;  // where gradients are accumulated
  size_t weights = 0, statistics = 0, sums = 0;
  std::vector<StateTensor> state;  // weights, statistics, sums, states
};

/// `network` is in the inference mode (modes.h). Constants that the loss does not depend on are not trained. `context` is for
/// what simplifies the network before it is differentiated.
Result<StepGraph> make_training_step(const Graph& network, const StepGraphOptions& options, const PassContext& context);

struct EvaluationGraph {
  Graph graph;  // inputs: data.. target, then `state`; outputs: the network's own, loss, right
  size_t data_inputs = 0;
};

/// The loss of the inference mode, the named constants being inputs.
Result<EvaluationGraph> make_evaluation(const Graph& network, const LossChoice& loss, const std::vector<std::string>& state);

/// The prediction that the loss is of; errors name the outputs there are.
Result<Value*> prediction_of(const Graph& network, const LossChoice& loss);

/// The dimension of the prediction that counts classes, not negative.
Result<int64_t> class_axis_of(const Value& prediction, const LossChoice& loss);

/// What the target must be: labels int64 without the classes' dimension, or like the prediction.
Result<Type> target_type(const Value& prediction, const LossChoice& loss);

}  // namespace svengine
