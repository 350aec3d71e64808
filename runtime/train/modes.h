// A network in the form it is used in, and in the form it is trained in.
//
//               inference                                 training
//   BatchNorm.  with the running mean and variance        with the batch's own; the running ones are updated beside it
//   Dropout     the input                                 each element 0 or 1/(1-ratio) times itself, drawn anew in every step
//
// Files come in either form (PyTorch's exporter writes both), so both are made from whatever there is.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine {

/// A running mean or variance of a BatchNormalization: a constant, and what one step makes of it.
struct RunningStatistic {
  Value* constant = nullptr;
  Value* updated = nullptr;
};

/// Every BatchNormalization uses its running statistics, and no Dropout drops anything. Rank-1 constants that pass through an
/// Identity become constants of their own: PyTorch's exporter writes parameters that happen to have equal values (as those of
/// norms have before training) as one. Refuses networks that use updated statistics otherwise.
Status to_inference_form(Graph& graph);

/// From the inference mode. A BatchNormalization whose running mean is `frozen` stays as it is. What Dropout draws is a function
/// of the seed, of its place in the graph, and of `step`: an int64 of rank 0.
Result<std::vector<RunningStatistic>> to_training_form(Graph& graph, Value* step, uint64_t seed,
                                                       const std::function<bool(const std::string&)>& frozen);

}  // namespace svengine
