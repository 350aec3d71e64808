#include "engine/kernels/n_bits.h"

#include <algorithm>

namespace svengine::kernels {
namespace {

/// The levels of four bytes: the first four in the lowest bits of the word's bytes, the next four above them, and so on.
template <int kBits>
uint32_t word_of(const uint8_t* bytes) {
  uint32_t word = 0;
  for (int step = 0; step < 32 / kBits; ++step) {
    const uint32_t level = uint32_t{bytes[step * kBits / 8]} >> (step * kBits % 8) & ((1u << kBits) - 1);
    word |= level << (step % 4 * 8 + step / 4 * kBits);
  }
  return word;
}

template <int kBits>
void pack_panel(const NBitsMatrix& b, const uint8_t* source, uint32_t* levels, int64_t panel) {
  const int64_t row = n_bits_blocks(b.k, b.block) * b.block * kBits / 8, words = n_bits_words(b.k, kBits);
  levels += panel * words * kNBitsColumns;
  const int64_t columns = std::min(kNBitsColumns, b.n - panel * kNBitsColumns);
  for (int64_t c = 0; c < kNBitsColumns; ++c) {
    const uint8_t* bytes = source + (panel * kNBitsColumns + c) * row;
    for (int64_t w = 0; w < words; ++w) levels[w * kNBitsColumns + c] = c < columns ? word_of<kBits>(bytes + w * 4) : 0;
  }
}

}  // namespace

void pack_n_bits(const NBitsMatrix& b, const uint8_t* source, uint32_t* levels, int64_t begin, int64_t end) noexcept {
  for (int64_t panel = begin; panel < end; ++panel) {
    if (b.bits == 2) pack_panel<2>(b, source, levels, panel);
    else if (b.bits == 4) pack_panel<4>(b, source, levels, panel);
    else pack_panel<8>(b, source, levels, panel);
  }
}

}  // namespace svengine::kernels
