// Reductions in double over explicit coordinates: the oracle of the reduction kernels.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/kernels/reduce.h"

namespace svengine::kernels {

struct ReferenceReduction {
  std::vector<double> y;
  std::vector<double>
      magnitude;  // per output: what a sum's rounding error is relative to (sum of |terms|), otherwise |y|
};

/// `x` are the elements of args.x as doubles (exact for the values the tests use).
ReferenceReduction reference_reduce(const std::vector<double>& x, const ReduceArgs& args);

/// One line: the index that ArgReduceArgs describes.
int64_t reference_arg(const std::vector<double>& line, bool largest, bool last);

/// One line: indices of the k best, as TopKArgs describes.
std::vector<int64_t> reference_top_k(const std::vector<double>& line, int64_t k, bool largest);

}  // namespace svengine::kernels
