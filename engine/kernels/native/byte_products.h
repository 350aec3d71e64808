// What kernels multiply bytes by, on SVE (engine/kernels/host has it for x86-64): SDOT, the one that A64FX has.
// Quad order, in which 32-bit lanes hold what vectors of bytes held, is here the elements' own order.
#pragma once
#include <arm_sve.h>

namespace sve_bytes {

static constexpr bool kSignedA = true;
static inline __attribute__((always_inline)) svint32_t dot(svint32_t sum, svuint32_t a, svint8_t b) {
  return svdot(sum, svreinterpret_s8(a), b);
}
static constexpr bool kOneInstruction = true;

/// To the nearest integer, ties to even, of what fits 32 bits.
static inline __attribute__((always_inline)) svint32_t rounded(svfloat32_t x) {
  return svcvt_s32_x(svptrue_b32(), svrintn_x(svptrue_b32(), x));
}

/// The element that is lane `lane` of vector `vector` in quad order.
constexpr int quad_element(int lanes, int vector, int lane) { return vector * lanes + lane; }

/// Element c of a, b, c and d become the four bytes of one 32-bit lane.
template <class Bytes, class Words>
static inline __attribute__((always_inline)) void quads(Bytes a, Bytes b, Bytes c, Bytes d, Words (&out)[4]) {
  const svint8_t low_even = svzip1(svint8_t(a), svint8_t(c)), low_odd = svzip1(svint8_t(b), svint8_t(d));
  const svint8_t high_even = svzip2(svint8_t(a), svint8_t(c)), high_odd = svzip2(svint8_t(b), svint8_t(d));
  out[0] = svreinterpret_u32(svzip1(low_even, low_odd)), out[1] = svreinterpret_u32(svzip2(low_even, low_odd));
  out[2] = svreinterpret_u32(svzip1(high_even, high_odd)), out[3] = svreinterpret_u32(svzip2(high_even, high_odd));
}

/// The lowest bytes of all lanes.
template <bool kSigned, class Words>
static inline __attribute__((always_inline)) svint8_t narrowed(const Words (&x)[4]) {
  const svint16_t first = svuzp1(svreinterpret_s16(svint32_t(x[0])), svreinterpret_s16(svint32_t(x[1])));
  const svint16_t second = svuzp1(svreinterpret_s16(svint32_t(x[2])), svreinterpret_s16(svint32_t(x[3])));
  return svuzp1(svreinterpret_s8(first), svreinterpret_s8(second));
}

/// table[index & 15] for 16 lanes.
static inline __attribute__((always_inline)) svfloat32_t looked_up(svfloat32_t table, svuint32_t index) {
  return svtbl(table, svand_x(svptrue_b32(), index, 15));
}

template <class Words>
static inline __attribute__((always_inline)) void quad_order(Words (&)[4]) {}
template <class Words>
static inline __attribute__((always_inline)) void natural_order(Words (&)[4]) {}

}  // namespace sve_bytes
