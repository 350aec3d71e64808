// Pooling on the kernels of kernels/pool.h.
#pragma once
#include "engine/graph/gradient.h"
#include "engine/kernels/pool.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"
#include "engine/ops/nn/window_common.h"

namespace svengine::ops {

/// Types of a window pooling: [N, C, spatial...] with 1 to 3 spatial dimensions; a second output holds int64 indices.
Status infer_pool(InferContext& c);

/// Emits a window pooling; `kind`, `count_padding` and `power` are set in `args`, the rest comes from the node.
Status lower_pool(LowerContext& c, const char* kernel, kernels::PoolArgs args);

/// The window of a node over an image of these dimensions; `kernel` when the attributes do not say it.
Result<kernels::PoolShape> pool_shape(const Attributes& attributes, const Dims& x, const Dims& kernel = {});

/// For gradients: svengine.PoolGrad with the node's attributes.
Status set_pool_gradient(GradientContext& c, const char* mode);

/// Types of a pooling's gradient, whose inputs are dy, x and perhaps y: output 0 is as x, and dy and y are as the pooling's output.
Status infer_pool_gradient(InferContext& c);

/// Refuses a norm's power, attribute "p", that kernels cannot take.
Status check_power(const Attributes& attributes);

/// Output [N, C, 1, 1, ...].
Status infer_global_pool(InferContext& c);
Status lower_global_pool(LowerContext& c, const char* kernel, kernels::PoolKind kind, int32_t power);

/// Blocks go in and out of a pooling whose input is blocked already. (Indices are for plain layout only: the pass sees to that.)
bool can_block_pool(const Node& node, int block);

/// One operation for every position of every window.
Cost pool_cost(const Node& node);

}  // namespace svengine::ops
