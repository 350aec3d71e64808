// The exponential that softmax needs: of differences from the maximum, which are never positive.
#pragma once
#include "engine/kernels/sve/math/exp.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// exp(x) for x <= 0, 0 where it is below about FLT_MIN (x < -88), NaN for NaN. At most 1.5 + |x| / 20 ULP.
/// By FEXPA: where the exponent field is 0 its result is 0 or subnormal (less than 2^-126 off), and at n = -127 exactly 0.
/// Elsewhere whatever comes out below -87.3, the selection replaces it.
template <class V>
SVENGINE_INLINE V vexp_of_difference(V x) {
  if constexpr (kMachine.table_exp) {
    const V y = vmax(x, -127 * kLn2Hi);
    const V z = vfma(y, vdup(kLog2e), vdup(kTableShift));
    const V r = vfma(vsub(z, vdup(kTableShift)), vdup(-kLn2Hi), y);
    const V power = vtable_power(z);
    return vfma(power, vmul(r, vfma(r, vdup(0.5f), vdup(kTableSlope))), power);
  } else {
    const V z = vfma(x, vdup(kLog2e), vdup(kExponentShift));
    const V e = vmul(vexp_reduced(vsub_n_ln2(x, vsub(z, vdup(kExponentShift)))), vpower_of_shifted(z));
    return vzero_below(x, vdup(-87.3f), e);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
