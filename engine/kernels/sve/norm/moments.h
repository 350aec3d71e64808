// Mean and variance of one line.
//
// Pass 1: mean' = sum(t) / n, rounded to float.  Pass 2, with d = t - mean':  S1 = sum(d), S2 = sum(d^2). Then
//
//     mean = mean' + S1 / n          var = (S2 - S1^2 / n) / n
//
// exactly, whatever the rounding of mean' was: a line of values 1e4 + small keeps its variance. The result is applied
// as y = d / std - (S1 / n) / std, one multiply-add on the difference that is free of cancellation.
#pragma once
#include "engine/kernels/sve/reduction_loops.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

struct Moments {
  float center;      // mean'
  float correction;  // S1 / n
  float variance;
};

/// mean' + S1 / n. Where the mean is infinite, S1 is NaN (infinity - infinity); then mean' alone is the answer.
inline float whole_mean(const Moments& m) { return m.correction == m.correction ? m.center + m.correction : m.center; }

/// `load(i, predicate)` gives t.
template <class Load>
SVENGINE_INLINE Moments line_moments(int64_t n, const Load& load) {
  const double inverse_count = 1.0 / double(n);  // one division a line: each blocks A64FX's pipe for tens of cycles
  const float center = float(double(line_sum<8>(n, load)) * inverse_count);
  const vf middle = vdup(center);
  float sums[2];
  line_sums<4, 2>(n, sums, [&](int64_t i, vb p, vf(&v)[2]) SVENGINE_INLINE_LAMBDA {
    v[0] = vsub(load(i, p), middle);
    v[1] = vmul(v[0], v[0]);
  });
  const double shift = double(sums[0]) * inverse_count;
  const double variance = double(sums[1]) * inverse_count - shift * shift;
  return {center, float(shift), float(variance < 0 ? 0 : variance)};
}

inline float inverse_std(float variance, float epsilon) { return 1.0f / __builtin_sqrtf(variance + epsilon); }

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
