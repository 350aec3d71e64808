// Weights of a few bits, and A's rows of rounded numbers, one by one.
#pragma once
#include <algorithm>
#include <cmath>

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

/// A[row][d], of its rounded numbers where the row has them.
inline double reference_n_bits_a(const NBitsRowsArgs& args, int64_t row, int64_t d) {
  const NBitsRounded& x = args.rounded;
  if (!x.numbers || x.rounded[row] == 0) return args.a[row * args.lda + d];
  const int8_t* at = x.numbers + row * n_bits_number_bytes(args.b.k) + d / 16 * 32 + d % 16;
  return (256.0 * at[0] + at[16]) * double{x.scales[row * n_bits_groups(args.b.k, args.b.block) + d / n_bits_group(args.b.block)]};
}

inline void reference_n_bits_round(const NBitsRoundArgs& args, int64_t row) {
  const int64_t group = n_bits_group(args.block), groups = n_bits_groups(args.k, args.block), stored = (args.k + 15) / 16 * 16;
  int8_t* numbers = args.numbers + row * n_bits_number_bytes(args.k);
  bool rounded = true;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t begin = g * group, end = std::min(args.k, begin + group);
    float most = 0;
    bool finite = true;
    for (int64_t d = begin; d < end; ++d) {
      most = std::fmax(most, std::fabs(args.a[row * args.lda + d]));
      finite = finite && std::isfinite(args.a[row * args.lda + d]);
    }
    const bool fits = finite && most >= 0x1p-80f;
    rounded = rounded && (fits || (finite && most == 0));
    int32_t sum = 0;
    for (int64_t d = begin; d < std::min(stored, begin + group); ++d) {
      const auto number = fits && d < end ? static_cast<int32_t>(std::nearbyint(args.a[row * args.lda + d] * (32512.0f / most))) : 0;
      const auto low = static_cast<int8_t>(number & 255);
      numbers[d / 16 * 32 + d % 16] = static_cast<int8_t>((number - low) / 256);
      numbers[d / 16 * 32 + 16 + d % 16] = low;
      sum += number;
    }
    args.scales[row * groups + g] = fits ? most / 32512.0f : 0;
    args.sums[row * groups + g] = sum;
  }
  args.rounded[row] = rounded;
}

}  // namespace svengine::kernels
