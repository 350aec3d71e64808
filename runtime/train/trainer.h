// Trains a network: an inference graph in, the same graph with other weights out.
//
//     network ──> inference mode ──> training step (step_graph.h)  ──> Session      step()
//                        └────────> evaluation                     ──> Session      evaluate()
//
// Weights, running statistics and optimiser states live in one set of buffers of the trainer's own, which are inputs of the step
// and, bound to the same memory, its outputs: every step updates them in place and copies nothing. That is safe because an
// optimiser's node, and the update of a running statistic, reads and writes element by element (what needs a norm of the whole
// tensor has all of it before it writes any); because the optimiser's nodes stand behind everything else that reads the weights (they
// come last in the graph, and pass `updates` moves them no further); and because nobody but BatchNormalization itself reads its
// running statistics.
//
// What a step does is a function of weights, states, batch, rate, seed and the number of the step alone: bitwise the same for any
// number of threads.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/session.h"
#include "runtime/train/step_graph.h"

namespace svengine {

struct TrainerOptions {
  StepGraphOptions step;
  /// Weights, and running statistics that are not frozen, begin anew, drawn by the seed (initial_weights.h); else with the
  /// network's.
  bool initialise = false;
  /// After every step all that it changed is looked at; if something is not finite, the step is done again from what was before,
  /// and the error names the first operator whose result is not finite. Keeps a second copy of all weights.
  bool detect_anomaly = false;
  /// What the backward pass computes again instead of having it kept. Results are bitwise the same.
  Recompute recompute = Recompute::cheap;
  SessionOptions session;
};

/// Where a training stands: all that it keeps beside tensors.
struct TrainerPosition {
  int64_t steps = 0;    // of the optimiser
  int64_t batches = 0;  // the same where gradients are not accumulated
  int64_t pending = 0;  // batches of the present group, whose gradients no step has taken yet

  friend bool operator==(const TrainerPosition&, const TrainerPosition&) = default;
};

struct StepResult {
  double loss = 0;      // as reduced over the batch
  int64_t right = 0;    // answers that are the label
  int64_t counted = 0;  // labels that are not ignored; samples where there are no labels
};

/// Not thread-safe.
class Trainer {
 public:
  /// Dimension 0 of every input is taken for the batch, of any size. Errors say what of the network or of the options does not
  /// fit.
  static Result<std::unique_ptr<Trainer>> create(Graph network, TrainerOptions options);
  ~Trainer();

  /// What a batch consists of: the network's inputs, and what its prediction is compared with.
  const std::vector<Session::Port>& data() const { return data_; }
  const Session::Port& target() const { return target_; }
  /// The target's shape for data of these shapes. An error where it depends on values.
  Result<Dims> target_dims(const std::vector<Tensor>& data) const;
  /// How many classes there are; 0 where there are no labels, or the network does not say.
  int64_t classes() const { return classes_; }

  /// One batch, and a step: with every batch, or with the last of a group of `accumulate`. Refuses batches that do not fit, labels
  /// out of range, and a rate that is negative or not finite in float32, with nothing changed. A loss that is not finite is an error; weights
  /// are lost then.
  Result<StepResult> step(const std::vector<Tensor>& data, const Tensor& target, double rate, bool profile = false);

  /// Ends a group of batches early, as at an epoch's end: a step with the mean gradient of those there are; none if there are none.
  Status end_group(double rate);

  /// The loss of the inference mode with the present weights; changes nothing.
  Result<StepResult> evaluate(const std::vector<Tensor>& data, const Tensor& target);

  /// The network in inference mode with the present weights, under the names they had.
  Result<Graph> network() const;

  /// Batches whose mean gradient a step takes.
  int64_t accumulate() const { return options_.step.accumulate; }
  /// How many steps were done.
  int64_t steps() const { return at_.steps; }
  const TrainerPosition& position() const { return at_; }
  /// Names, shapes and values of what goes from batch to batch: weights, running statistics, sums of gradients, states. Shares
  /// storage with the trainer, so it is good until the next step.
  std::vector<CheckpointTensor> state() const;
  size_t weight_count() const { return graph_.weights; }
  /// Numbers that are trained.
  int64_t parameters() const;
  /// Continues from a state() at its position(). Refuses one with other names, types or shapes, with nothing changed.
  Status restore(const std::vector<CheckpointTensor>& state, const TrainerPosition& at);

  Session& session() { return *training_; }

  struct Memory {
    int64_t state = 0;    // bytes of weights, running statistics and states
    int64_t values = 0;  // of all that a step computes on the way, at its peak
  };
  /// What the largest step so far has planned; 0 before the first.
  Memory planned() const;
  /// The same with another recomputation, planned anew. No difference is seen where shapes depend on data.
  Result<Memory> planned_with(Recompute recompute) const;

 private:
  Trainer() = default;
  Status make_sessions();
  Status take_values();
  Status check_target(const std::vector<Tensor>& data, const Tensor& target) const;
  StepResult result_of(const Tensor& loss, const Tensor& right, const Tensor& target) const;
  std::vector<Tensor> inputs_with(const std::vector<Tensor>& data, const Tensor& target, double rate,
                                  const std::vector<MutableTensor>& state) const;
  std::shared_ptr<const Plan> largest_plan() const;
  std::vector<Tensor> update_inputs(double rate, const std::vector<MutableTensor>& state) const;
  Status update(double rate);
  bool accumulates() const { return options_.step.accumulate > 1; }
  /// kept_ as the step's graph takes it: without states where it only adds up gradients.
  std::vector<Tensor> batch_part(const std::vector<MutableTensor>& state) const;
  Status keep_copies();
  Status look_for_anomaly(const std::vector<Tensor>& data, const Tensor& target, double rate, double loss) const;

  Graph network_;  // inference mode, as imported
  TrainerOptions options_;
  StepGraph graph_;  // its graphs only where anomalies are looked for
  std::unique_ptr<Session> training_, evaluation_, updating_;
  std::vector<Session::Port> data_;
  Session::Port target_;
  int64_t classes_ = 0;
  TrainerPosition at_;
  std::vector<MutableTensor> kept_;    // weights, statistics, sums, states
  std::vector<MutableTensor> places_;  // of the step's outputs
  std::vector<MutableTensor> update_places_;
  std::vector<MutableTensor> previous_;  // kept_ before the last step, with detect_anomaly
};

}  // namespace svengine
