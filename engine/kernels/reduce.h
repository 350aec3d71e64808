// Reductions, arg-reductions, cumulative sums and top-k.
//
// Results do not depend on the number of threads: sums are blocked, in an order fixed by the shape, and float32 sums
// are compensated (relative to the sum of magnitudes the error is about 1e-7 for any count). Inputs and outputs are
// contiguous and do not overlap.
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

/// What an empty reduction gives is named behind each.
enum class ReduceOp : int32_t {
  kSum,        // 0
  kMean,       // NaN (floats), 0 (integers; their means are truncated towards zero)
  kMax,        // -infinity or the lowest integer; NaN if there is one
  kMin,        // infinity or the highest integer; NaN if there is one
  kProd,       // 1
  kL1,         // sum |x|: 0
  kL2,         // sqrt(sum x^2): 0
  kLogSum,     // log(sum x): -infinity
  kLogSumExp,  // log(sum exp(x)) with the maximum taken out: -infinity
  kSumSquare,  // sum x^2: 0
};

inline constexpr int kReduceDims = 8;

/// y = op over all dimensions d with reduced[d]; y holds the kept dimensions in order. Integer sums and products wrap;
/// their L2, log-sum and log-sum-exp are computed in double, truncated and kept within the type's range. Dimensions need
/// not be merged: the kernel does that.
///
/// A reduction to few outputs has few tasks; split_reduce (reduce_prepare.h) makes two reductions of it that have more.
struct ReduceArgs {
  const void* x = nullptr;
  void* y = nullptr;
  ReduceOp op = ReduceOp::kSum;
  DType type = DType::f32;
  int32_t rank = 0;
  int64_t extent[kReduceDims] = {};
  bool reduced[kReduceDims] = {};
};

/// Index (int64) of the largest or smallest element along n of [outer, n, inner], n < 2^31: the first of several equal
/// ones, or the last. NaN counts as larger (arg max) or smaller (arg min) than everything. y is [outer, inner].
struct ArgReduceArgs {
  const void* x = nullptr;
  int64_t* y = nullptr;
  DType type = DType::f32;
  bool largest = true;
  bool select_last = false;
  int64_t outer = 0, n = 0, inner = 1;
};

/// y[j] = x[0] + ... + x[j] (exclusive: ... + x[j - 1]) along n of [outer, n, inner], from the other end if `reverse`.
/// float32 is added up in double and rounded once per element.
struct CumSumArgs {
  const void* x = nullptr;
  void* y = nullptr;
  DType type = DType::f32;
  bool exclusive = false;
  bool reverse = false;
  int64_t outer = 0, n = 0, inner = 1;
};

/// The k largest or smallest elements along n of [outer, n, inner], best first, and their indices; equal ones in
/// ascending order of index. NaN counts as larger than everything. k <= n < 2^31. values and indices are [outer, k,
/// inner].
struct TopKArgs {
  const void* x = nullptr;
  void* values = nullptr;
  int64_t* indices = nullptr;
  DType type = DType::f32;
  bool largest = true;
  int64_t outer = 0, n = 0, inner = 1, k = 0;
};

struct ReduceKernels {
  TaskKernel<ReduceArgs> reduce;
  TaskKernel<ArgReduceArgs> arg_reduce;
  TaskKernel<CumSumArgs> cumulative_sum;
  TaskKernel<TopKArgs> top_k;
};

}  // namespace svengine::kernels
