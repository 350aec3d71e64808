// Transposition of a square of one vector's lanes in registers.
//
// Interleaving the upper half of the rows with the lower half rotates the bits of (row, column) by one place; after
// log2(L) rounds row and column have changed places:
//
//     a b    zip   a c b d        rows i and i + L/2 become rows 2 i (ZIP1) and 2 i + 1 (ZIP2)
//     c d
//
// L log2(L) ZIPs for L^2 elements: 64 cycles for 256 floats on A64FX, where gathers would take twice that. Elements of
// one and two bytes travel in 32-bit lanes (LD1UB, ST1B extend and truncate).
#pragma once
#include "engine/kernels/sve/data/element.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

template <class T>
struct SquareTile {
  using V = vi;
  using Lane = uint32_t;
  static constexpr int kSize = kLanes;
  SVENGINE_INLINE static vb lanes(int64_t count) { return svwhilelt_b32(int64_t(0), count); }
  SVENGINE_INLINE static vb all() { return svptrue_b32(); }
  SVENGINE_INLINE static V zero() { return svdup_s32(0); }
};
template <>
struct SquareTile<uint64_t> {
  using V = vl;
  using Lane = uint64_t;
  static constexpr int kSize = kLanes / 2;
  SVENGINE_INLINE static vb lanes(int64_t count) { return svwhilelt_b64(int64_t(0), count); }
  SVENGINE_INLINE static vb all() { return svptrue_b64(); }
  SVENGINE_INLINE static V zero() { return svdup_s64(0); }
};

SVENGINE_INLINE vi load_lanes(vb p, const uint8_t* from) { return svld1ub_s32(p, from); }
SVENGINE_INLINE vi load_lanes(vb p, const uint16_t* from) { return svld1uh_s32(p, from); }
SVENGINE_INLINE vi load_lanes(vb p, const uint32_t* from) { return svld1(p, reinterpret_cast<const int32_t*>(from)); }
SVENGINE_INLINE vl load_lanes(vb p, const uint64_t* from) { return svld1(p, reinterpret_cast<const int64_t*>(from)); }
SVENGINE_INLINE void store_lanes(vb p, uint8_t* to, vi v) { svst1b(p, reinterpret_cast<int8_t*>(to), v); }
SVENGINE_INLINE void store_lanes(vb p, uint16_t* to, vi v) { svst1h(p, reinterpret_cast<int16_t*>(to), v); }
SVENGINE_INLINE void store_lanes(vb p, uint32_t* to, vi v) { svst1(p, reinterpret_cast<int32_t*>(to), v); }
SVENGINE_INLINE void store_lanes(vb p, uint64_t* to, vl v) { svst1(p, reinterpret_cast<int64_t*>(to), v); }

/// Of L rows of kLanes elements or fewer: element c of row r becomes element c L + r of all vectors' together.
template <int L, class V>
SVENGINE_INLINE void transpose_registers(V (&r)[L]) {
  SVENGINE_UNROLL
  for (int round = 1; round < L; round *= 2) {
    V t[L];
    SVENGINE_UNROLL
    for (int i = 0; i < L / 2; ++i) {
      t[2 * i] = svzip1(r[i], r[i + L / 2]);
      t[2 * i + 1] = svzip2(r[i], r[i + L / 2]);
    }
    SVENGINE_UNROLL
    for (int i = 0; i < L; ++i) r[i] = t[i];
  }
}

/// Four rows of bytes, one in each byte of a lane.
SVENGINE_INLINE vi four_rows(vb p, const uint8_t* src, int64_t stride) {
  const vb all = svptrue_b32();
  const vi low = svorr_x(all, load_lanes(p, src), vi(svlsl_x(all, load_lanes(p, src + stride), svdup_u32(8))));
  const vi high = svorr_x(all, load_lanes(p, src + 2 * stride), vi(svlsl_x(all, load_lanes(p, src + 3 * stride), svdup_u32(8))));
  return svorr_x(all, low, vi(svlsl_x(all, high, svdup_u32(16))));
}

/// dst[c * dst_stride + r] = src[r * src_stride + c] for r < 4 quads, quads at most kQuads, and c < columns, at most kLanes: four rows at a time
/// are words, of which a square has four times as many bytes.
template <int kQuads>
[[gnu::noinline]] void transpose_quads(uint8_t* dst, int64_t dst_stride, const uint8_t* src, int64_t src_stride, int64_t quads, int64_t columns) {
  const vb in = svwhilelt_b32(int64_t(0), columns), all = svptrue_b32();
  int32_t words[kQuads * kLanes] = {};
#pragma GCC unroll 1
  for (int64_t q = 0; q < quads; ++q) svst1(all, words + q * kLanes, four_rows(in, src + 4 * q * src_stride, src_stride));
  vi v[kQuads];
  SVENGINE_UNROLL
  for (int q = 0; q < kQuads; ++q) v[q] = svld1(all, words + q * kLanes);
  transpose_registers(v);
  if (quads == kQuads && dst_stride == 4 * kQuads) {  // the columns lie one behind the other
    SVENGINE_UNROLL
    for (int q = 0; q < kQuads; ++q)
      svst1(svwhilelt_b32(int64_t(q * kLanes), columns * kQuads), reinterpret_cast<int32_t*>(dst) + q * kLanes, v[q]);
    return;
  }
  SVENGINE_UNROLL
  for (int q = 0; q < kQuads; ++q) svst1(all, words + q * kLanes, v[q]);
  const vb out = svwhilelt_b32(int64_t(0), quads);
#pragma GCC unroll 1
  for (int64_t c = 0; c < columns; ++c) {
    const vi column = svld1(out, words + c * kQuads);
    svst1(out, reinterpret_cast<int32_t*>(dst + c * dst_stride), column);
  }
}

/// The way back.
template <int L, class V>
SVENGINE_INLINE void untranspose_registers(V (&r)[L]) {
  SVENGINE_UNROLL
  for (int round = 1; round < L; round *= 2) {
    V t[L];
    SVENGINE_UNROLL
    for (int i = 0; i < L / 2; ++i) {
      t[i] = svuzp1(r[2 * i], r[2 * i + 1]);
      t[i + L / 2] = svuzp2(r[2 * i], r[2 * i + 1]);
    }
    SVENGINE_UNROLL
    for (int i = 0; i < L; ++i) r[i] = t[i];
  }
}

/// dst[c * dst_stride + r] = src[r * src_stride + c] for r < rows, c < columns, both at most the tile's size. The
/// destination's elements of rows that do not exist are written 0 up to `padded` >= rows.
template <class T>
SVENGINE_INLINE void transpose_tile(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
                                    int64_t columns, int64_t padded) {
  constexpr int kSize = SquareTile<T>::kSize;
  typename SquareTile<T>::V v[kSize];
  if (rows == kSize && columns == kSize) {
    const vb all = SquareTile<T>::all();
    SVENGINE_UNROLL
    for (int r = 0; r < kSize; ++r) v[r] = load_lanes(all, src + r * src_stride);
    transpose_registers(v);
    SVENGINE_UNROLL
    for (int c = 0; c < kSize; ++c) store_lanes(all, dst + c * dst_stride, v[c]);
    return;
  }
  const vb in = SquareTile<T>::lanes(columns), out = SquareTile<T>::lanes(padded);
  SVENGINE_UNROLL
  for (int r = 0; r < kSize; ++r)
    v[r] = r < rows ? typename SquareTile<T>::V(load_lanes(in, src + r * src_stride)) : SquareTile<T>::zero();
  transpose_registers(v);
  SVENGINE_UNROLL
  for (int c = 0; c < kSize; ++c)
    if (c < columns) store_lanes(out, dst + c * dst_stride, v[c]);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
