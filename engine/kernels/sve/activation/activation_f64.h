// Activations on vectors of doubles. V is vd or Many of them.
#pragma once
#include "engine/kernels/activation.h"
#include "engine/kernels/sve/math/erf_f64.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

template <class V>
SVENGINE_INLINE V leaky_relu_f64(V x, double slope) {
  return veach(
      [slope](auto v) SVENGINE_INLINE_LAMBDA {
        const vb all = svptrue_b64();
        return vd(svsel(svcmplt(all, v, svdup_f64(0)), svmul_x(all, v, svdup_f64(slope)), v));
      },
      x);
}

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) = x / (1 + exp(-2 sqrt(2/pi) (x + 0.044715 x^3))), which has no cancellation.
template <class V>
SVENGINE_INLINE V gelu_tanh_f64(V x) {
  constexpr double kTwoRoots = 0x1.9884533d43651p+0;  // 2 sqrt(2 / pi)
  return vmul(x, vsigmoid_f64(vmul(x, vfma(vmul(x, x), vdup(0.044715 * kTwoRoots), vdup(kTwoRoots)))));
}

/// The function kKind, as activation/activation.h has it for floats.
template <Activation kKind, class V>
SVENGINE_INLINE V apply_activation_f64(V x, [[maybe_unused]] const ActivationArgs& args) {
  if constexpr (kKind == Activation::kRelu) return vmax(x, 0.0);
  if constexpr (kKind == Activation::kClip) return vmin(vmax(x, double{args.alpha}), double{args.beta});
  if constexpr (kKind == Activation::kLeakyRelu) return leaky_relu_f64(x, args.alpha);
  if constexpr (kKind == Activation::kHardSigmoid)
    return vmin(vmax(vfma(x, vdup(double{args.alpha}), vdup(double{args.beta})), 0.0), 1.0);
  if constexpr (kKind == Activation::kHardSwish) return vmul(x, vmin(vmax(vfma(x, vdup(1.0 / 6), vdup(0.5)), 0.0), 1.0));
  if constexpr (kKind == Activation::kSigmoid) return vsigmoid_f64(x);
  if constexpr (kKind == Activation::kTanh) return vtanh_f64(x);
  if constexpr (kKind == Activation::kGelu) return vgelu_f64(x);
  if constexpr (kKind == Activation::kGeluTanh) return gelu_tanh_f64(x);
  if constexpr (kKind == Activation::kSilu) return vmul(x, vsigmoid_f64(x));
  return x;
}

template <Activation kKind>
SVENGINE_INLINE vd apply_activation(vd x, const ActivationArgs& args) {
  return apply_activation_f64<kKind>(x, args);
}
template <Activation kKind, int N>
SVENGINE_INLINE Many<N, vd> apply_activation(Many<N, vd> x, const ActivationArgs& args) {
  return apply_activation_f64<kKind>(x, args);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
