// Sums over the pixels of one channel block: lanes stay apart. Blocked and compensated as in reduction_loops.h.
#pragma once
#include "engine/kernels/sve/reduction_loops.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr int kPixelChains = 4;  // independent sums of each value

/// sums[k] = the sum over pixels i of the v[k] that f(i, v) sets.
template <int K, class F>
SVENGINE_INLINE void pixel_sums(int64_t pixels, vf (&sums)[K], const F& f) {
  const auto add = [](vf a, vf b) SVENGINE_INLINE_LAMBDA -> vf { return vadd(a, b); };
  vf high[K], low[K];
  for (int k = 0; k < K; ++k) high[k] = low[k] = vdup(0.0f);
  for (int64_t i = 0; i < pixels;) {
    vf chains[K][kPixelChains];
    SVENGINE_UNROLL
    for (int u = 0; u < K * kPixelChains; ++u) chains[u / kPixelChains][u % kPixelChains] = vdup(0.0f);
    for (int step = 0; step < kBlockSteps && i < pixels; ++step, i += kPixelChains) {
      SVENGINE_UNROLL
      for (int u = 0; u < kPixelChains; ++u) {
        if (i + u >= pixels) break;
        vf v[K];
        f(i + u, v);
        for (int k = 0; k < K; ++k) chains[k][u] = vadd(chains[k][u], v[k]);
      }
    }
    for (int k = 0; k < K; ++k) {
      combine(chains[k], add);
      two_sum(high[k], low[k], chains[k][0]);
    }
  }
  for (int k = 0; k < K; ++k) sums[k] = compensated(high[k], low[k]);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
