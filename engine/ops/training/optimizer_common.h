// Optimiser steps as operators. All of them take a rate R, and mostly the number of steps done so far T, and then several tensors
// at a time: first all weights, then all gradients, then each kind of state. The outputs are the new weights and states.
#pragma once
#include "engine/graph/op_def.h"
#include "engine/kernels/layerwise_optimizer.h"
#include "engine/kernels/optimizer.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// Checks R, T and groups of `per_tensor` tensors of one shape: X, G and states. Outputs: all but G.
Status infer_optimizer(InferContext& c, size_t per_tensor);

/// Sets what depends on the run: the rate, and T (0 for the first step).
using SetRates = void (*)(const Attributes& attributes, double rate, int64_t steps, kernels::OptimizerArgs& args);

/// What Adam and AdamW have in common: alpha, beta, norm_coefficient and epsilon, which is `epsilon` unless the node says it.
kernels::OptimizerArgs adam_args(const Attributes& attributes, float epsilon);

/// Emits a step for every tensor. `args` has what the attributes say; states are v, or h, or v and h, as `rule` has them.
Status lower_optimizer(LowerContext& c, kernels::OptimizerArgs args, size_t per_tensor, SetRates set_rates);

using SetLayerwiseRates = void (*)(const Attributes& attributes, double rate, int64_t steps, kernels::LayerwiseArgs& args);

/// Emits the two steps of LARS or LAMB for every tensor. `args` has what the attributes say but for `adapt`.
Status lower_layerwise(LowerContext& c, kernels::LayerwiseArgs args, SetLayerwiseRates set_rates);

}  // namespace svengine::ops
