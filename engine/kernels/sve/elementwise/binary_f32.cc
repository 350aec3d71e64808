// Binary kernels of float32.
#include "engine/kernels/sve/elementwise/tile.h"
#include "engine/kernels/sve/math/divide.h"
#include "engine/kernels/sve/math/pow.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

SVENGINE_INLINE vf add(vf a, vf b) { return vadd(a, b); }
SVENGINE_INLINE vf subtract(vf a, vf b) { return vsub(a, b); }
SVENGINE_INLINE vf multiply(vf a, vf b) { return vmul(a, b); }
SVENGINE_INLINE vf smaller_of(vf a, vf b) { return vmin(a, b); }
SVENGINE_INLINE vf larger_of(vf a, vf b) { return vmax(a, b); }
SVENGINE_INLINE vf add_relu(vf a, vf b) { return vmax(vadd(a, b), 0.0f); }
SVENGINE_INLINE vf prelu(vf a, vf b) { return vsel(vlt(a, vdup(0.0f)), vmul(a, b), a); }

/// Called, not inlined: some seventy operations in every one of thirty loops would only cost space.
[[gnu::noinline]] vf power(vf a, vf b) { return vpow(a, b); }

/// The processor's library for lanes of `rest`, y in the others.
[[gnu::noinline]] vf remainder_by_library(vf a, vf b, vb rest, vf y) {
  float dividend[kLanes], divisor[kLanes], result[kLanes];
  const vb all = svptrue_b32();
  svst1(all, dividend, a), svst1(all, divisor, b);
  for (int i = 0; i < kLanes; ++i) result[i] = __builtin_fmodf(dividend[i], divisor[i]);
  return vsel(rest, svld1(all, result), y);
}

/// fmod, exactly: with n the whole number nearest to a / b, a - n b is at most 0.7 b in size and a multiple of b's last bit, so that it is
/// a float, as is what is left when b is added where the sign is not a's. n is found by a quotient that may be wrong in its last bits, if
/// it is below 2^20. What is smaller than b is left alone: it may be subnormal.
SVENGINE_INLINE vf remainder(vf a, vf b) {
  const vb all = svptrue_b32();
  const vf a_size = vabs(a), b_size = vabs(b);
  const vb small = vlt(a_size, b_size);
  const vb plain = svcmplt(svcmplt(vge(b_size, vdup(0x1p-100f)), b_size, vdup(0x1p100f)), a_size, vmul(b_size, vdup(0x1p20f)));
  const vf n = vrint(vdiv_normal(a_size, b_size)), left = vfnma(n, b_size, a_size);
  const vf size = vsel(vlt(left, vdup(0.0f)), vadd(left, b_size), left);
  const vf y = vsel(small, a, vwith_sign(vabs(size), a));
  const vb rest = svnot_z(all, svorr_z(all, small, plain));
  if (svptest_any(all, rest)) [[unlikely]] return remainder_by_library(a, b, rest, y);
  return y;
}

/// One loop for all kinds of tiles, a vector at a time: the division is what takes the time, and twelve unrolled loops would be 7 KB.
void remainder_tile(const Tile& t) noexcept {
  for (int64_t r = 0; r < t.rows; ++r) {
    const float* a = static_cast<const float*>(t.a) + r * t.a_row;
    const float* b = static_cast<const float*>(t.b) + r * t.b_row;
    float* y = static_cast<float*>(t.y) + r * t.y_row;
    for (int64_t i = 0; i < t.columns; i += kLanes) {
      const vb p = svwhilelt_b32(i, t.columns);
      const vf dividend = t.a_column ? vf(svld1(p, a + i)) : vdup(*a), divisor = t.b_column ? vf(svld1(p, b + i)) : vdup(*b);
      // Lanes behind the end divide by 1, or the library would be called for them.
      svst1(p, y + i, remainder(svsel(p, dividend, vdup(0.0f)), svsel(p, divisor, vdup(1.0f))));
    }
  }
}

}  // namespace

TileFunction find_binary_f32(BinaryOp op, bool relu) noexcept {
  if (relu) return op == BinaryOp::kAdd ? tile<float, add_relu> : nullptr;
  switch (op) {
    case BinaryOp::kAdd: return tile<float, add>;
    case BinaryOp::kSub: return tile<float, subtract>;
    case BinaryOp::kMul: return tile<float, multiply>;
    case BinaryOp::kDiv: return tile<float, vdiv>;
    case BinaryOp::kPow: return tile<float, power>;
    case BinaryOp::kFmod: return remainder_tile;
    case BinaryOp::kMin: return tile<float, smaller_of>;
    case BinaryOp::kMax: return tile<float, larger_of>;
    case BinaryOp::kPRelu: return tile<float, prelu>;
    case BinaryOp::kEqual: return tile<float, veq, uint8_t>;
    case BinaryOp::kGreater: return tile<float, vgt, uint8_t>;
    case BinaryOp::kLess: return tile<float, vlt, uint8_t>;
    case BinaryOp::kGreaterOrEqual: return tile<float, vge, uint8_t>;
    case BinaryOp::kLessOrEqual: return tile<float, vle, uint8_t>;
    default: return nullptr;
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
