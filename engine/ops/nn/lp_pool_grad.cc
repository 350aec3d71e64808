// svengine.LpPoolGrad: the gradient of LpPool. Inputs: dy, X, Y; the attributes are LpPool's. Every window gives its elements
//
//   dx = dy sign(x) (|x| / y)^(p - 1)         and nothing where y is 0
#include <cmath>

#include "engine/ops/adjoint/window_loops.h"
#include "engine/ops/nn/pool_common.h"

namespace svengine::ops {
namespace {

using kernels::PoolShape;

Status infer_lp_pool_grad(InferContext& c) {
  SV_TRY(check_power(c.attributes()));
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_same_dtypes(c));
  return infer_pool_gradient(c);
}

template <class T>
void plane_gradient(const PoolShape& s, int64_t power, const T* dy, const T* x, const T* y, T* dx) {
  std::fill_n(dx, s.in.depth * s.in.height * s.in.width, T(0));
  for (int64_t z = 0; z < s.out.depth; ++z)
    for (int64_t h = 0; h < s.out.height; ++h)
      for (int64_t w = 0; w < s.out.width; ++w, ++dy, ++y) {
        if (*y == 0) continue;
        for_window(s, z, h, w, [&](int64_t at) {
          const T ratio = std::pow(std::fabs(x[at]) / *y, static_cast<T>(power - 1));
          dx[at] += x[at] == 0 ? T(0) : std::copysign(*dy * ratio, *dy * x[at]);
        });
      }
}

template <class T>
void emit_lp_pool_grad(LowerContext& c, const PoolShape& s) {
  const int64_t in = s.in.depth * s.in.height * s.in.width, out = s.out.depth * s.out.height * s.out.width;
  c.emit("lp_pool_grad", s.batch * s.channels,
         [=, power = c.attributes().get_int("p", 2), dy = c.in(0), x = c.in(1), y = c.in(2), dx = c.out()](
             const Run& run, int64_t begin, int64_t end) -> const char* {
           for (int64_t plane = begin; plane < end; ++plane)
             plane_gradient(s, power, run.get<const T>(dy) + plane * out, run.get<const T>(x) + plane * in,
                            run.get<const T>(y) + plane * out, run.get<T>(dx) + plane * in);
           return nullptr;
         });
}

Status lower_lp_pool_grad(LowerContext& c) {
  if (element_count(c.out_dims()) == 0) return {};
  SV_ASSIGN(const PoolShape s, pool_shape(c.attributes(), c.out_dims()));
  if (c.out_type().dtype == DType::f64) emit_lp_pool_grad<double>(c, s);
  else emit_lp_pool_grad<float>(c, s);
  return {};
}

}  // namespace

OpDef define_lp_pool_grad() {
  return {
      .name = "LpPoolGrad",
      .domain = kInternalDomain,
      .inputs = "dy, X, Y",
      .attributes = window_attributes({{"p", AttributeKind::kInt, false, 2}}, true, true),
      .infer = infer_lp_pool_grad,
      .lower = lower_lp_pool_grad,
      .samples = "(float32[2, 3, 3, 2], float32[2, 3, 5, 4], float32[2, 3, 3, 2] 1 to 3) {kernel_shape = [3, 3], p = 3}"
                 "(float32[1, 2, 2, 2, 2], float32[1, 2, 4, 4, 4], float32[1, 2, 2, 2, 2] 1 to 3) {kernel_shape = [2, 2, 2], "
                 "strides = [2, 2, 2]}"
                 "(float64[2, 3, 3], float64[2, 3, 5], float64[2, 3, 3] 1 to 3) {kernel_shape = [3]}",
  };
}

}  // namespace svengine::ops
