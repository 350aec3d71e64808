// Binary kernels of float32.
#include "engine/kernels/sve/elementwise/tile.h"
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

}  // namespace

TileFunction find_binary_f32(BinaryOp op, bool relu) noexcept {
  if (relu) return op == BinaryOp::kAdd ? tile<float, add_relu> : nullptr;
  switch (op) {
    case BinaryOp::kAdd: return tile<float, add>;
    case BinaryOp::kSub: return tile<float, subtract>;
    case BinaryOp::kMul: return tile<float, multiply>;
    case BinaryOp::kDiv: return tile<float, vdiv>;
    case BinaryOp::kPow: return tile<float, power>;
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
