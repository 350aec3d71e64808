// Weighted sums of neighbours along one axis, and their gradient: the same with the tables transposed.
//
//     y[j] = sum over t of weight[t][j] x[index[t][j]]        dx[i] = sum over all (t, j) with index[t][j] = i of weight[t][j] dy[j]
#pragma once
#include "engine/kernels/data_prepare.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// From tables for `out` results of `in` elements those for `in` results of `out` elements. As many taps as the element with the most
/// contributions has; the others repeat their last one with weight 0. Those without any say -1.
kernels::ResampleTables transposed_tables(const kernels::ResampleTables& tables, int64_t in, int64_t out);

/// Resamples float32 data of `dims` along one axis, which gets `out` elements there (`outside` where the tables say -1); to `to`, or
/// to a temporary, which is returned.
Buffer emit_resample(LowerContext& c, const std::string& kernel, const kernels::ResampleTables& tables, float outside, Buffer from,
                     Dims& dims, size_t axis, int64_t out, Buffer to);

}  // namespace svengine::ops
