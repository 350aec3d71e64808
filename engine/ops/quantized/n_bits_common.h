// Weights of 2, 4 or 8 bits in blocks: what MatMulNBits is as file and as node of the engine.
#pragma once
#include "engine/graph/op_def.h"
#include "engine/kernels/n_bits.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// Inputs of both: A, packed levels, scales, and perhaps zero points.
inline constexpr size_t kBits = 1, kBitScales = 2, kBitZeros = 3;

struct BitLayout {
  int64_t k, n, bits, block, blocks;
  int64_t row_bytes() const { return blocks * block * bits / 8; }
  int64_t zero_row_bytes() const { return (blocks * bits + 7) / 8; }
};
Result<BitLayout> bit_layout(const Attributes& attributes);

/// Number i of a row of packed ones, the first in the low bits.
inline int64_t bits_at(const std::byte* row, int64_t i, int64_t bits) {
  const int64_t per_byte = 8 / bits;
  return static_cast<int64_t>(row[i / per_byte]) >> (i % per_byte * bits) & ((1 << bits) - 1);
}

/// [K, N], of the type of the scales, which are constant as levels and zero points are. groups: the block of every row; empty: as they lie.
Result<Tensor> dequantized_weights(const Node& node, const BitLayout& l, const std::vector<int64_t>& groups);

/// A's m rows times the node's packed weights into output 0. rounds: A may be rounded to integers of 16 bits, where that is faster.
void emit_bits_product(LowerContext& c, const BitLayout& l, int64_t m, Buffer bias, bool rounds);

}  // namespace svengine::ops
