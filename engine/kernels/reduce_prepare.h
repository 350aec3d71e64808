// Plain functions that prepare reductions when a plan is made.
#pragma once
#include <cstdint>
#include <optional>

#include "engine/kernels/reduce.h"

namespace svengine::kernels {

/// A reduction as two, so that one with few outputs has many tasks: `first` from x to `partials` elements of the same
/// type, `second` from those to y. Pointers are left to the caller: first.x, first.y = second.x, second.y.
struct ReduceSplit {
  ReduceArgs first, second;
  int64_t partials;
};

/// Splits floating-point reductions (and those of integers that stay exact: sum, max, min, prod, L1, sum of squares) of
/// at least 2^16 elements per output to fewer than 64 outputs, if a reduced dimension has a divisor to split it by. The
/// split depends on the shape alone, so results stay independent of the number of threads.
std::optional<ReduceSplit> split_reduce(const ReduceArgs& args);

}  // namespace svengine::kernels
