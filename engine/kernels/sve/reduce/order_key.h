// Floats as integers in the same order, so that NaN has a place and comparisons need one instruction.
#pragma once
#include "engine/kernels/sve/math/base_f64.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr int32_t kNaNKey = INT32_MAX;  // above every number, as NumPy's argmax and PyTorch's topk have it

/// kLargest: keys ascend with x; otherwise they descend. -0 and +0 have one key; NaN has the highest in both cases. The
/// lowest key, INT32_MIN, belongs to no value.
template <bool kLargest>
SVENGINE_INLINE vi order_key(vf x) {
  const vb all = svptrue_b32();
  const vi bits = vbits(vadd(x, vdup(0.0f)));  // -0 + 0 = +0
  const vi sign = svasr_x(all, bits, svdup_u32(31));
  const vi ascending = vxor_int(bits, vand_int(sign, vdup_int(INT32_MAX)));
  const vi key = kLargest ? ascending : vxor_int(ascending, vdup_int(-1));
  return svsel(svcmpeq(all, x, x), key, vdup_int(kNaNKey));
}

/// The same of doubles.
template <bool kLargest>
SVENGINE_INLINE vl order_key(vd x) {
  const vb all = svptrue_b64();
  const vl bits = svreinterpret_s64(vadd(x, vdup(0.0)));
  const vl sign = svasr_x(all, bits, svdup_u64(63));
  const vl ascending = sveor_x(all, bits, vl(svand_x(all, sign, svdup_s64(INT64_MAX))));
  const vl key = kLargest ? ascending : vl(sveor_x(all, ascending, svdup_s64(-1)));
  return svsel(svcmpeq(all, x, x), key, svdup_s64(INT64_MAX));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
