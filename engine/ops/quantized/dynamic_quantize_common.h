// Quantisation by the range of the values themselves: DynamicQuantizeLinear's formula.
#pragma once
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// y[i], uint8, of x[i], float32, i < count: scale = (max(x, 0) - min(x, 0)) / 255, zero = round(-min(x, 0) / scale). The three are
/// written where their buffers say. Of zeros alone scale is 1 and zero 0.
void emit_dynamic_quantize(LowerContext& c, Buffer x, int64_t count, Buffer y, Buffer scale, Buffer zero);

}  // namespace svengine::ops
