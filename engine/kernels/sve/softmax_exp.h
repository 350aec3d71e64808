// The exponential that softmax needs: of differences from the maximum, which are never positive.
#pragma once
#include "engine/kernels/sve/math_exp.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// exp(x) for x <= 0, 0 where it is below about FLT_MIN (x < -87.3), NaN for NaN. At most 1.5 ULP. Needs no clamp:
/// whatever comes out below -87.3, the selection replaces it.
SVENGINE_INLINE vf vexp_of_difference(vf x) {
  const vf z = vfma(x, vdup(kLog2e), vdup(kExponentShift));
  const vf power = vfloat(vshl<23>(vbits(z)));
  const vf e = vmul(vexp_reduced(vsub_n_ln2(x, vsub(z, vdup(kExponentShift)))), power);
  return vsel(vlt(x, vdup(-87.3f)), vdup(0.0f), e);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
