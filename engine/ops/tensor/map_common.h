// Outputs whose element [i, j, ...] is the input's [map_0[i], map_1[j], ...]: Pad, and Resize to the nearest source.
#pragma once
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {

/// Output 0 from input 0 by one map for each dimension, of one entry for each output position. Negative entries take the
/// element at `value` (read when the step runs), or zero when there is none.
Status emit_map(LowerContext& c, const char* kernel, const std::vector<std::vector<int32_t>>& maps, Buffer value);

}  // namespace svengine::ops
