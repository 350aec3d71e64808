// The sums of a convolution's tile, kPixels x kVectors registers: from memory, to memory, and what happens to all of them.
#pragma once
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

template <int kPixels, int kVectors>
struct Sums {
  vf at[kPixels][kVectors];
};

/// Keeps an address in a register of its own, so that GCC reaches what is near it by an offset in the instruction.
template <class T>
inline __attribute__((always_inline)) T* keep(T* address) {
  __asm__("" : "+r"(address));
  return address;
}

/// sums = what lies at `from`: neighbouring pixels, blocks block_step apart.
template <int kPixels, int kVectors>
inline __attribute__((always_inline)) void load(const float* from, int64_t block_step, Sums<kPixels, kVectors>& sums) {
  SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v, from = keep(from + block_step))
    SVENGINE_UNROLL
    for (int p = 0; p < kPixels; ++p) sums.at[p][v] = svld1(svptrue_b32(), from + p * kLanes);
}

template <int kPixels, int kVectors>
inline __attribute__((always_inline)) void store(float* to, int64_t block_step, const Sums<kPixels, kVectors>& sums) {
  SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v, to = keep(to + block_step))
    SVENGINE_UNROLL
    for (int p = 0; p < kPixels; ++p) svst1(svptrue_b32(), to + p * kLanes, sums.at[p][v]);
}

/// sums = bias of their block: loaded for every second pixel, copied for the others, so that neither the loads nor the pipes, which
/// copy registers on A64FX, wait for the other.
template <int kPixels, int kVectors>
inline __attribute__((always_inline)) void start_from(const float* bias, Sums<kPixels, kVectors>& sums) {
  SVENGINE_UNROLL
  for (int p = 0; p < kPixels; ++p) {
    if (p % 2 == 0) bias = keep(bias);
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) sums.at[p][v] = svld1(svptrue_b32(), bias + v * kLanes);
  }
}

template <int kPixels, int kVectors>
inline __attribute__((always_inline)) void add(const float* from, int64_t block_step, Sums<kPixels, kVectors>& sums) {
  const vb all = svptrue_b32();
  SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v, from = keep(from + block_step))
    SVENGINE_UNROLL
    for (int p = 0; p < kPixels; ++p) sums.at[p][v] = svadd_x(all, sums.at[p][v], svld1(all, from + p * kLanes));
}

template <int kPixels, int kVectors>
inline __attribute__((always_inline)) void at_least(float lowest, Sums<kPixels, kVectors>& sums) {
  SVENGINE_UNROLL
  for (int p = 0; p < kPixels; ++p)
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) sums.at[p][v] = svmax_x(svptrue_b32(), sums.at[p][v], lowest);
}

template <int kPixels, int kVectors>
inline __attribute__((always_inline)) void at_most(float highest, Sums<kPixels, kVectors>& sums) {
  SVENGINE_UNROLL
  for (int p = 0; p < kPixels; ++p)
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) sums.at[p][v] = svmin_x(svptrue_b32(), sums.at[p][v], highest);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
