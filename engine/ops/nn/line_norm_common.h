// Lines divided by a number of their own, for LpNormalization and MeanVarianceNormalization.
#pragma once
#include "engine/kernels/norm.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// The step from input 0, float32 or float64, to the output of the same shape: a line is all elements along `axes`, which are normalised.
Status emit_line_norm(LowerContext& c, const char* name, kernels::LineNorm norm, double guard, const std::vector<int64_t>& axes);

}  // namespace svengine::ops
