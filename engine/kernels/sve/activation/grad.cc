// dy f'(v), vectors at a time; see activation_grad.h for the formulas.
#include "engine/kernels/activation_grad.h"

#include "engine/kernels/elementwise.h"
#include "engine/kernels/sve/gradient/kernels.h"
#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

/// Vectors in flight: the latency of a multiply-add is nine cycles on A64FX. Of GELU's slope, an erf and an exp, more than two do not
/// fit A64FX's registers (tests/costs/spill_test.py).
template <GradientOf kOf>
constexpr int kTogether = kOf == GradientOf::kGelu && !kMachine.deep_window ? 2 : 4;

/// The density of the normal distribution times `scale`: scale exp(-x^2 / 2).
SVENGINE_INLINE vf bell(vf x, float scale) {
  return vmul(vexp_scaled<0, Coefficients::kMemory>(vmul(vmul(x, x), vdup(-0.5f))), vdup(scale));
}

SVENGINE_INLINE vf gelu_derivative(vf x) {
  constexpr float kInverseRoot2 = 0.70710678118654752f, kInverseRoot2Pi = 0.39894228040143268f;
  const vf below = vfma(verf(vmul(x, vdup(kInverseRoot2))), vdup(0.5f), vdup(0.5f));
  // Beyond 20 the bell is 0, and infinity times it would be NaN.
  const vf bounded = vmin(vmax(x, -20.0f), 20.0f);
  return vfma(bounded, bell(bounded, kInverseRoot2Pi), below);
}

/// s = sigmoid(x) and s (1 - s), which is the same for -x: taken from the smaller of s and 1 - s, whose digits are all there.
struct Sigmoid {
  vf value, slope;
};

SVENGINE_INLINE Sigmoid sigmoid_of(vf x) {
  const vf small = vsigmoid(vneg(vabs(x))), large = vsub(vdup(1.0f), small);
  return {vsel(vlt(x, vdup(0.0f)), small, large), vmul(small, large)};
}

/// tanh(u) = 2 s - 1 with s = sigmoid(2 u), so that 1/2 (1 + tanh u) + x/2 (1 - tanh^2 u) u' = s + 2 x s (1 - s) u', where
/// u' = sqrt(2/pi) (1 + 3 * 0.044715 x^2).
SVENGINE_INLINE vf gelu_tanh_derivative(vf any) {
  const vf x = vmin(vmax(any, -20.0f), 20.0f);  // there s is 0 or 1 already
  const vf square = vmul(x, x);
  const Sigmoid s = sigmoid_of(vmul(x, vfma(square, vdup(2 * 0.035677408136300125f), vdup(2 * 0.79788456080286536f))));
  const vf twice_slope = vfma(square, vdup(2 * 0.10703222440890037f), vdup(2 * 0.79788456080286536f));
  return vfma(vmul(x, s.slope), twice_slope, s.value);
}

SVENGINE_INLINE vf silu_derivative(vf x) {
  const Sigmoid s = sigmoid_of(x);
  const vf bounded = vmin(vmax(x, -100.0f), 100.0f);  // beyond, the slope is 0 and infinity would make NaN of it
  return vfma(bounded, s.slope, s.value);
}

template <GradientOf kOf>
SVENGINE_INLINE vf derivative(vf v, [[maybe_unused]] float alpha, [[maybe_unused]] float beta) {
  const vf zero = vdup(0.0f), one = vdup(1.0f);
  if constexpr (kOf == GradientOf::kSigmoid) return vfnma(v, v, v);
  if constexpr (kOf == GradientOf::kTanh) return vfnma(v, v, one);
  if constexpr (kOf == GradientOf::kErf) return vmul(vexp(vneg(vmul(v, v))), vdup(1.1283791670955126f));
  if constexpr (kOf == GradientOf::kGelu) return gelu_derivative(v);
  if constexpr (kOf == GradientOf::kGeluTanh) return gelu_tanh_derivative(v);
  if constexpr (kOf == GradientOf::kSilu) return silu_derivative(v);
  if constexpr (kOf == GradientOf::kSoftplus) return vsigmoid(v);
  if constexpr (kOf == GradientOf::kLeakyRelu) return vsel(vgt(v, zero), one, vdup(alpha));
  if constexpr (kOf == GradientOf::kElu) return vsel(vgt(v, zero), one, vmul(vexp(vmin(v, 0.0f)), vdup(alpha)));
  if constexpr (kOf == GradientOf::kHardSwish) {
    const vf middle = vfma(v, vdup(1.0f / 3), vdup(0.5f));
    return vsel(vlt(v, vdup(-3.0f)), zero, vsel(vgt(v, vdup(3.0f)), one, middle));
  }
  return one;  // not reached: the others select instead of multiplying
}

/// What selects, so that a gradient of infinity stays out where the slope is 0.
template <GradientOf kOf>
SVENGINE_INLINE vf gradient(vf dy, vf v, float alpha, float beta) {
  const vf zero = vdup(0.0f);
  if constexpr (kOf == GradientOf::kRelu) {
    return vsel(vle(v, zero), zero, dy);
  } else if constexpr (kOf == GradientOf::kClip) {
    return vsel(vge(v, vdup(alpha)), vsel(vle(v, vdup(beta)), dy, zero), zero);
  } else if constexpr (kOf == GradientOf::kHardSigmoid) {
    return vsel(vgt(v, zero), vsel(vlt(v, vdup(1.0f)), vmul(dy, vdup(alpha)), zero), zero);
  } else {
    return vmul(dy, derivative<kOf>(v, alpha, beta));
  }
}

template <GradientOf kOf>
[[gnu::flatten]] void loop(const ActivationGradArgs& args, int64_t begin, int64_t end) {
  const float *dy = args.dy, *v = args.v;
  float* dx = args.dx;
  const float alpha = args.alpha, beta = args.beta;
  const vb all = svptrue_b32();
  constexpr int kCount = kTogether<kOf>;
  int64_t i = begin;
  for (; i + kCount * kLanes <= end; i += kCount * kLanes) {
    vf in[kCount], out[kCount];
    SVENGINE_UNROLL
    for (int u = 0; u < kCount; ++u) {
      in[u] = svld1(all, v + i + u * kLanes);
      out[u] = svld1(all, dy + i + u * kLanes);
    }
    SVENGINE_UNROLL
    for (int u = 0; u < kCount; ++u) svst1(all, dx + i + u * kLanes, gradient<kOf>(out[u], in[u], alpha, beta));
  }
  for (; i < end; i += kLanes) {
    const vb p = svwhilelt_b32(i, end);
    svst1(p, dx + i, gradient<kOf>(svld1(p, dy + i), svld1(p, v + i), alpha, beta));
  }
}

using Loop = void (*)(const ActivationGradArgs&, int64_t, int64_t);

Loop loop_of(GradientOf of) {
  switch (of) {
#define SVENGINE_ACTIVATION(Name, name, from, ...) \
  SVENGINE_WITH_SLOPE_##from(case GradientOf::k##Name : return loop<GradientOf::k##Name>;)
#include "engine/kernels/activation.inc"
  }
  return loop<GradientOf::kRelu>;
}

}  // namespace

int64_t activation_grad_tasks(const ActivationGradArgs& args) noexcept { return ceil_div(args.n, kElementwiseTask); }

void activation_grad_run(const ActivationGradArgs& args, int64_t begin, int64_t end, void*) noexcept {
  loop_of(args.of)(args, begin * kElementwiseTask, smaller(args.n, end * kElementwiseTask));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
