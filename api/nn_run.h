// nn::Trainer::fit() on runtime/train's run.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "runtime/train/run.h"
#include "svengine/nn.hpp"

namespace svengine::nn {

/// `settings`: those of the trainer, which a checkpoint must have alike; the run's own are added.
Result<FitReport> run_training(svengine::Trainer& trainer, const BatchSource& training, const FitOptions& options,
                               std::vector<std::pair<std::string, std::string>> settings);

/// The batch's tensors, whose data stay the caller's.
Result<TrainingBatch> borrow_batch(const Batch& batch);

/// Writes the graph in the oldest opset from 17 on that has what it is made of.
Status save_graph(Graph graph, const std::string& path);

/// What other parts of the API may do with trainers.
struct TrainerAccess {
  /// Whether the last failure was for options or a batch that cannot be, and not for the network or the values.
  static bool is_callers_fault(const Trainer& trainer);
  /// The network with its present weights, in copies.
  static Result<Graph> trained(const Trainer& trainer);
};

}  // namespace svengine::nn
