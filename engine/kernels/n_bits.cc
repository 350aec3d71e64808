#include "engine/kernels/n_bits.h"

#include <algorithm>

namespace svengine::kernels {
namespace {

/// The levels of four bytes: the first four in the lowest bits of the word's bytes, the next four above them, and so on.
inline uint32_t word_of(const uint8_t* bytes, int64_t bits) {
  uint32_t word = 0;
  for (int64_t step = 0; step < 32 / bits; ++step) {
    const uint32_t level = uint32_t{bytes[step * bits / 8]} >> (step * bits % 8) & ((1u << bits) - 1);
    word |= level << (step % 4 * 8 + step / 4 * bits);
  }
  return word;
}

/// Of a word of 4 bits: in pairs, 0 1 2 3 4 5 6 7 become 0 4 1 5 2 6 3 7.
inline uint32_t word_of_4_bits(const uint8_t* bytes) {
  const uint32_t word = bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24;
  const auto spread = [](uint32_t four) {  // nibbles to bytes
    four = (four | four << 8) & 0x00ff00ffu;
    return (four | four << 4) & 0x0f0f0f0fu;
  };
  return spread(word & 0xffff) | spread(word >> 16) << 4;
}

void pack_panel(const NBitsMatrix& b, const uint8_t* source, uint32_t* levels, int64_t panel) {
  const int64_t row = n_bits_blocks(b.k, b.block) * b.block * b.bits / 8, words = n_bits_words(b.k, b.bits);
  levels += panel * words * kNBitsColumns;
  const int64_t columns = std::min(kNBitsColumns, b.n - panel * kNBitsColumns);
  for (int64_t c = 0; c < kNBitsColumns; ++c) {
    const uint8_t* bytes = source + (panel * kNBitsColumns + c) * row;
    for (int64_t w = 0; w < words; ++w) {
      uint32_t& to = levels[w * kNBitsColumns + c];
      to = c >= columns ? 0 : b.bits == 4 ? word_of_4_bits(bytes + w * 4) : word_of(bytes + w * 4, b.bits);
    }
  }
}

}  // namespace

void pack_n_bits(const NBitsMatrix& b, const uint8_t* source, uint32_t* levels, int64_t begin, int64_t end) noexcept {
  for (int64_t panel = begin; panel < end; ++panel) pack_panel(b, source, levels, panel);
}

}  // namespace svengine::kernels
