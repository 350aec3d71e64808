// Binary kernels of float32.
#include "engine/kernels/sve/elementwise_tile.h"
#include "engine/kernels/sve/math_pow.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

SVENGINE_INLINE vf add_relu(vf a, vf b) { return vmax(vadd(a, b), vdup(0.0f)); }
SVENGINE_INLINE vf prelu(vf a, vf b) { return vsel(vlt(a, vdup(0.0f)), vmul(a, b), a); }

/// Called, not inlined: some seventy operations in every one of thirty loops would only cost space.
[[gnu::noinline]] vf power(vf a, vf b) { return vpow(a, b); }

}  // namespace

TileFunction find_binary_f32(BinaryOp op, bool relu) noexcept {
  if (relu) return op == BinaryOp::kAdd ? tile<float, add_relu> : nullptr;
  switch (op) {
    case BinaryOp::kAdd: return tile<float, vadd>;
    case BinaryOp::kSub: return tile<float, vsub>;
    case BinaryOp::kMul: return tile<float, vmul>;
    case BinaryOp::kDiv: return tile<float, vdiv>;
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
