// math/base.h for doubles. Before math/many.h, whose templates see only what is declared above them.
#pragma once
#include "engine/kernels/sve/math/base.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

SVENGINE_INLINE vd vdup(double c) { return svdup_f64(c); }
SVENGINE_INLINE vd vadd(vd a, vd b) { return svadd_x(svptrue_b64(), a, b); }
SVENGINE_INLINE vd vsub(vd a, vd b) { return svsub_x(svptrue_b64(), a, b); }
SVENGINE_INLINE vd vmul(vd a, vd b) { return svmul_x(svptrue_b64(), a, b); }
SVENGINE_INLINE vd vfma(vd a, vd b, vd c) { return svmla_x(svptrue_b64(), c, a, b); }   // a b + c, one rounding
SVENGINE_INLINE vd vfnma(vd a, vd b, vd c) { return svmls_x(svptrue_b64(), c, a, b); }  // c - a b, one rounding
SVENGINE_INLINE vd vmax(vd a, double b) { return svmax_x(svptrue_b64(), a, b); }        // NaN if either is
SVENGINE_INLINE vd vmin(vd a, double b) { return svmin_x(svptrue_b64(), a, b); }
SVENGINE_INLINE vd vneg(vd a) { return svneg_x(svptrue_b64(), a); }
SVENGINE_INLINE vd vabs(vd a) { return svabs_x(svptrue_b64(), a); }

/// 2^n for x = kExponentShiftF64 + n (math/f64.h).
SVENGINE_INLINE vd vpower_of_shifted(vd x) {
  return svreinterpret_f64(svlsl_x(svptrue_b64(), svreinterpret_s64(x), svdup_u64(52)));
}
/// 0 where x < limit, y elsewhere.
SVENGINE_INLINE vd vzero_below(vd x, vd limit, vd y) { return svsel(svcmplt(svptrue_b64(), x, limit), svdup_f64(0), y); }
/// a where x < limit, b elsewhere.
SVENGINE_INLINE vd vsel_below(vd x, vd limit, vd a, vd b) { return svsel(svcmplt(svptrue_b64(), x, limit), a, b); }
/// `magnitude`, which has the sign bit only where `sign` has it, with that sign: for odd functions, whose sums lose the sign of -0.
SVENGINE_INLINE vd vwith_sign_of(vd magnitude, vd sign) {
  const vb all = svptrue_b64();
  const vl bit = svand_x(all, svreinterpret_s64(sign), svdup_s64(INT64_MIN));
  return svreinterpret_f64(svorr_x(all, svreinterpret_s64(magnitude), bit));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
