// Host ACLE: reciprocal and root estimates with their Newton steps, and the table of powers of two. All bit-equal to
// SVE.
//
// FRECPE and FRSQRTE look the leading mantissa bits up in tables that Arm defines by formulas: the estimate is the
// function at the middle of the input's interval, rounded to a mantissa of 8 bits. No interval's value lies close to a
// tie (tests/acle checks every interval), so a rough hardware estimate and one Newton step, rounded, give Arm's table
// exactly:
//
//   x = m 2^e     m' = m with bits cut off, plus half of the last kept bit     y = round8(1 / m')     result y 2^-e
#pragma once
#include "sve_float.h"

namespace sve_host {

// The mantissa of v rounded to 8 bits, ties up.
SVE_FN svfloat32_t round_to_8_bits(svfloat32_t v) { return (svfloat32_t)(((svuint32_t)v + 0x4000u) & 0xffff8000u); }

// m: bits 22..15 count. 1 / m for 1 <= |m| < 2.
SVE_FN svfloat32_t reciprocal_mantissa(svfloat32_t m) {
  const svfloat32_t middle = (svfloat32_t)(((svuint32_t)m & 0xffff8000u) | 0x4000u);
  const svfloat32_t y = rough_reciprocal(middle);
  return round_to_8_bits(fma(y, fnma(middle, y, dup<svfloat32_t>(1)), y));
}
// m: bits 22..16 count. 1 / sqrt(m) for 0.5 <= m < 2.
SVE_FN svfloat32_t reciprocal_root_mantissa(svfloat32_t m) {
  const svfloat32_t middle = (svfloat32_t)(((svuint32_t)m & 0xffff0000u) | 0x8000u);
  const svfloat32_t y = rough_reciprocal_root(middle);
  const svfloat32_t error = fnma(middle * y, y, dup<svfloat32_t>(1));
  return round_to_8_bits(fma(y * dup<svfloat32_t>(0.5f), error, y));
}

// 2 - a b, and 2 where one operand is zero and the other infinite.
SVE_FN svfloat32_t reciprocal_step(svfloat32_t a, svfloat32_t b) {
  const svfloat32_t two = dup<svfloat32_t>(2), r = fnma(a, b, two);
  const svbool_t operand_nan = compare<Compare::kUnordered>(a, b);
  return sel(predicate_andnot(compare<Compare::kUnordered>(r, r), operand_nan), two, r);
}
// (3 - a b) / 2, and 1.5 where one operand is zero and the other infinite. Halving afterwards is exact but for an
// overflow of a b; there, with both operands finite, a is far from subnormal and is halved instead.
SVE_FN svfloat32_t reciprocal_root_step(svfloat32_t a, svfloat32_t b) {
  const svfloat32_t half = dup<svfloat32_t>(0.5f), limit = dup<svfloat32_t>(__builtin_inff());
  const svfloat32_t r = fnma(a, b, dup<svfloat32_t>(3)) * half;
  const svbool_t overflow =
      predicate_and(compare<Compare::kEq>(magnitude(r), limit), compare<Compare::kLt>(magnitude(b), limit));
  const svfloat32_t s = sel(overflow, fnma(a * half, b, dup<svfloat32_t>(1.5f)), r);
  const svbool_t operand_nan = compare<Compare::kUnordered>(a, b);
  return sel(predicate_andnot(compare<Compare::kUnordered>(r, r), operand_nan), dup<svfloat32_t>(1.5f), s);
}

// Mantissas of 2^(i/64), the table of FEXPA (Arm ARM, FPExpCoefficient, 32 bits).
alignas(64) static constexpr uint32_t kExpTable[64] = {
    0x000000, 0x0164d2, 0x02cd87, 0x043a29, 0x05aac3, 0x071f62, 0x08980f, 0x0a14d5, 0x0b95c2, 0x0d1adf, 0x0ea43a,
    0x1031dc, 0x11c3d3, 0x135a2b, 0x14f4f0, 0x16942d, 0x1837f0, 0x19e046, 0x1b8d3a, 0x1d3eda, 0x1ef532, 0x20b051,
    0x227043, 0x243516, 0x25fed7, 0x27cd94, 0x29a15b, 0x2b7a3a, 0x2d583f, 0x2f3b79, 0x3123f6, 0x3311c4, 0x3504f3,
    0x36fd92, 0x38fbaf, 0x3aff5b, 0x3d08a4, 0x3f179a, 0x412c4d, 0x4346cd, 0x45672a, 0x478d75, 0x49b9be, 0x4bec15,
    0x4e248c, 0x506334, 0x52a81e, 0x54f35b, 0x5744fd, 0x599d16, 0x5bfbb8, 0x5e60f5, 0x60ccdf, 0x633f89, 0x65b907,
    0x68396a, 0x6ac0c7, 0x6d4f30, 0x6fe4ba, 0x728177, 0x75257d, 0x77d0df, 0x7a83b3, 0x7d3e0c,
};
// Bits 5..0 choose the mantissa, bits 13..6 become the exponent.
SVE_FN svfloat32_t exponential(svuint32_t v) {
  return (svfloat32_t)(exp_mantissa(v, kExpTable) | ((v << 17) & 0x7f800000u));
}

}  // namespace sve_host

SVE_FN svfloat32_t svrecpe(svfloat32_t v) { return sve_host::reciprocal_estimate(v); }
SVE_FN svfloat32_t svrsqrte(svfloat32_t v) { return sve_host::reciprocal_root_estimate(v); }
SVE_FN svfloat32_t svrecps(svfloat32_t a, svfloat32_t b) { return sve_host::reciprocal_step(a, b); }
SVE_FN svfloat32_t svrsqrts(svfloat32_t a, svfloat32_t b) { return sve_host::reciprocal_root_step(a, b); }
SVE_FN svfloat32_t svexpa(svuint32_t v) { return sve_host::exponential(v); }
