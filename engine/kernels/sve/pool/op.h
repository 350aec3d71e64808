// What pooling does with the inputs of a window.
#pragma once
#include "engine/kernels/pool.h"
#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/window.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::pool {

using namespace window;

/// kLp's inner and outer functions.
SVENGINE_INLINE vf raise(vf x, int32_t power) {
  const vf magnitude = vabs(x);
  vf product = magnitude;
  for (int32_t i = 1; i < power; ++i) product = vmul(product, magnitude);
  return product;
}

SVENGINE_INLINE vf root(vf sum, int32_t power) {
  if (power == 1) return sum;
  if (power == 2) return vsqrt(sum);
  return vexp(vmul(vlog(sum), vdup(1.0f / static_cast<float>(power))));
}

/// start: the value of an empty window. add: one more input. join: two partial results. end: the result; `scale` is 1 / count.
template <PoolKind kKind>
struct Op;

template <>
struct Op<PoolKind::kMax> {
  static constexpr float kStart = -__builtin_inff();
  SVENGINE_INLINE static vf add(vf so_far, vf x, int32_t) { return vmax(so_far, x); }
  SVENGINE_INLINE static vf join(vf a, vf b) { return vmax(a, b); }
  SVENGINE_INLINE static vf end(vf result, vf, int32_t) { return result; }
};

template <>
struct Op<PoolKind::kAverage> {
  static constexpr float kStart = 0.0f;
  SVENGINE_INLINE static vf add(vf so_far, vf x, int32_t) { return vadd(so_far, x); }
  SVENGINE_INLINE static vf join(vf a, vf b) { return vadd(a, b); }
  SVENGINE_INLINE static vf end(vf sum, vf scale, int32_t) { return vmul(sum, scale); }
};

template <>
struct Op<PoolKind::kLp> {
  static constexpr float kStart = 0.0f;
  SVENGINE_INLINE static vf add(vf so_far, vf x, int32_t power) { return vadd(so_far, raise(x, power)); }
  SVENGINE_INLINE static vf join(vf a, vf b) { return vadd(a, b); }
  SVENGINE_INLINE static vf end(vf sum, vf, int32_t power) { return root(sum, power); }
};

/// One output row: its plane (image and channel, or channel block) and place.
struct Row {
  int64_t plane, z, y;
};

constexpr Row row_of(const PoolShape& shape, int64_t task) {
  return {task / shape.out.height / shape.out.depth, task / shape.out.height % shape.out.depth, task % shape.out.height};
}

/// Positions that kAverage counts along one axis for a window that starts at `start`.
constexpr int64_t counted(bool padding, int64_t in, int64_t kernel, int64_t dilation, int64_t start, int64_t pad, int64_t pad_end) {
  if (padding) return taps_inside(pad + in + pad_end, kernel, dilation, start + pad).size();
  return taps_inside(in, kernel, dilation, start).size();
}

// The implementations, one task an output row; planes are images and channels or channel blocks.
void run_blocked(const PoolArgs& args, int64_t begin, int64_t end);
void run_plain(const PoolArgs& args, int64_t begin, int64_t end);
/// Where line_floats(args) > 0; `memory` is so many.
void run_by_lines(const PoolArgs& args, int64_t begin, int64_t end, float* memory);
int64_t line_floats(const PoolArgs& args);
void run_plain_indexed(const PoolArgs& args, int64_t begin, int64_t end);
// One task a plane.
void run_global_blocked(const GlobalPoolArgs& args, int64_t begin, int64_t end);
void run_global_plain(const GlobalPoolArgs& args, int64_t begin, int64_t end);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::pool
