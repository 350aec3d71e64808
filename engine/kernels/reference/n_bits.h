// Weights of a few bits, one by one.
#pragma once
#include "engine/kernels/n_bits.h"

namespace svengine::kernels {

/// weight[d][c], d < k, c < n.
inline float reference_n_bits_weight(const NBitsMatrix& b, int64_t d, int64_t c) {
  const int64_t steps = n_bits_steps(b.bits), panel = c / kNBitsColumns, lane = c % kNBitsColumns, step = d % steps;
  const uint32_t word = b.levels[(panel * n_bits_words(b.k, b.bits) + d / steps) * kNBitsColumns + lane];
  const uint32_t level = word >> (step % 4 * 8 + step / 4 * b.bits) & ((1u << b.bits) - 1);
  const int64_t factor = (panel * n_bits_blocks(b.k, b.block) + d / b.block) * kNBitsColumns + lane;
  const float middle = static_cast<float>(1 << (b.bits - 1));
  const float zero = b.zeros ? static_cast<float>(b.zeros[factor]) : b.float_zeros ? b.float_zeros[factor] : middle;
  return (static_cast<float>(level) - zero) * b.scales[factor];
}

}  // namespace svengine::kernels
