// A table of all 256 bytes in vector registers, on SVE (engine/kernels/host has it for x86-64): parts of a vector each, under TBL, which
// gives 0 for an index beyond its part.
#pragma once
#include <arm_sve.h>

namespace sve_bytes {

static constexpr int kTableParts = 2048 / __ARM_FEATURE_SVE_BITS;

template <class Bytes>
static inline __attribute__((always_inline)) void load_table(const uint8_t* from, Bytes (&table)[kTableParts]) {
#pragma GCC unroll 16
  for (int i = 0; i < kTableParts; ++i) table[i] = svld1(svptrue_b8(), from + 256 / kTableParts * i);
}

/// table[x] of every byte.
template <class Bytes>
static inline __attribute__((always_inline)) Bytes from_table(const Bytes (&table)[kTableParts], Bytes x) {
  Bytes y = svtbl(table[0], x);
#pragma GCC unroll 16
  for (int i = 1; i < kTableParts; ++i) {
    x = svsub_x(svptrue_b8(), x, uint8_t{256 / kTableParts});
    y = svorr_x(svptrue_b8(), y, svtbl(table[i], x));
  }
  return y;
}

}  // namespace sve_bytes
