// Histograms of weights and activations.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace svengine {

/// `counts[i]` values are above `limits[i-1]` and at most `limits[i]`; the first bucket begins at `least`, which it includes.
struct Histogram {
  double least = 0, most = 0, sum = 0, sum_of_squares = 0;  // of the finite values; 0 without any
  int64_t count = 0;                                        // of finite values
  int64_t not_finite = 0;                                   // NaN and infinities: in no bucket
  std::vector<double> limits;                               // rising; the last is `most`
  std::vector<int64_t> counts;
};

/// `buckets` (at least 1) of equal width from the least to the most finite value, or one if these are equal; none without values.
Histogram histogram_of(std::span<const float> values, int buckets = 64);

}  // namespace svengine
