// Binary kernels of float32.
#include "engine/kernels/sve/elementwise_tile.h"
#include "engine/kernels/sve/math_pow.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

SVENGINE_INLINE vf add_relu(vf a, vf b) { return vmax(vadd(a, b), vdup(0.0f)); }
SVENGINE_INLINE vf prelu(vf a, vf b) { return vsel(vlt(a, vdup(0.0f)), vmul(a, b), a); }

/// Called, not inlined: some seventy operations in every one of thirty loops would only cost space.
[[gnu::noinline]] vf power(vf a, vf b) { return vpow(a, b); }

/// At most 0.51 ULP. Where the Newton steps could leave the range of floats, or meet zero, infinity or NaN, the processor's
/// division takes over lane by lane; vectors without such lanes never wait for it.
SVENGINE_INLINE vf divide(vf a, vf b) {
  const vf q = vdiv_normal(a, b);
  if constexpr (kMachine.newton_divide) {
    const vf size = vabs(b);
    const vb regular = svcmplt(svcmplt(svcmpgt(svptrue_b32(), size, vdup(0x1p-60f)), size, vdup(0x1p60f)), vabs(a), vdup(0x1p60f));
    const vb rest = svnot_z(svptrue_b32(), regular);
    if (svptest_any(svptrue_b32(), rest)) [[unlikely]] return vsel(regular, q, svdiv_x(svptrue_b32(), a, b));
  }
  return q;
}

}  // namespace

TileFunction find_binary_f32(BinaryOp op, bool relu) noexcept {
  if (relu) return op == BinaryOp::kAdd ? tile<float, add_relu> : nullptr;
  switch (op) {
    case BinaryOp::kAdd: return tile<float, vadd>;
    case BinaryOp::kSub: return tile<float, vsub>;
    case BinaryOp::kMul: return tile<float, vmul>;
    case BinaryOp::kDiv: return tile<float, divide>;
    case BinaryOp::kPow: return tile<float, power>;
    case BinaryOp::kMin: return tile<float, vmin>;
    case BinaryOp::kMax: return tile<float, vmax>;
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
