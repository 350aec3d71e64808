// Activations on vectors, chosen at compile time so that an epilogue has no switch per element.
#pragma once
#include "engine/kernels/activation.h"
#include "engine/kernels/sve/math/erf_f64.h"
#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

// A function by its name in activation.inc; V is vf or Many. FMAX and FMIN let NaN through (FMAXNM would not).
namespace activation {

template <Coefficients, class V>
SVENGINE_INLINE V relu(V x, const ActivationArgs&) {
  return vmax(x, 0.0f);
}
template <Coefficients, class V>
SVENGINE_INLINE V clip(V x, const ActivationArgs& args) {
  return vmin(vmax(x, args.alpha), args.beta);
}
template <Coefficients, class V>
SVENGINE_INLINE V leaky_relu(V x, const ActivationArgs& args) {
  const vf slope = vdup(args.alpha);
  return veach([slope](vf v) SVENGINE_INLINE_LAMBDA -> vf { return vsel(vlt(v, vdup(0.0f)), vmul(v, slope), v); }, x);
}
template <Coefficients, class V>
SVENGINE_INLINE V hard_sigmoid(V x, const ActivationArgs& args) {
  return vmin(vmax(vfma(x, vdup(args.alpha), vdup(args.beta)), 0.0f), 1.0f);
}
template <Coefficients, class V>
SVENGINE_INLINE V hard_swish(V x, const ActivationArgs&) {
  return vmul(x, vmin(vmax(vfma(x, vdup(1.0f / 6.0f), vdup(0.5f)), 0.0f), 1.0f));
}
template <Coefficients, class V>
SVENGINE_INLINE V sigmoid(V x, const ActivationArgs&) {
  return vsigmoid(x);
}
template <Coefficients kWhere, class V>
SVENGINE_INLINE V tanh(V x, const ActivationArgs&) {
  return vtanh<kWhere>(x);
}
template <Coefficients kWhere, class V>
SVENGINE_INLINE V gelu(V x, const ActivationArgs&) {
  return vgelu<kWhere>(x);
}
template <Coefficients kWhere, class V>
SVENGINE_INLINE V gelu_tanh(V x, const ActivationArgs&) {
  const V scale = vfma(vmul(x, x), vdup(0.035677408136300125f), vdup(0.79788456080286536f));
  const V tanh = vtanh<kWhere, false>(vmul(x, scale));  // of sqrt(2/pi) * (x + 0.044715 x^3)
  const V half = vmul(x, vdup(0.5f));
  return vfma(half, tanh, half);
}
template <Coefficients, class V>
SVENGINE_INLINE V silu(V x, const ActivationArgs&) {
  return vmul(x, vsigmoid(x));
}

}  // namespace activation

// The same of doubles; V is vd or Many of them.
namespace activation_f64 {

template <class V>
SVENGINE_INLINE V relu(V x, const ActivationArgs&) {
  return vmax(x, 0.0);
}
template <class V>
SVENGINE_INLINE V clip(V x, const ActivationArgs& args) {
  return vmin(vmax(x, double{args.alpha}), double{args.beta});
}
template <class V>
SVENGINE_INLINE V leaky_relu(V x, const ActivationArgs& args) {
  return vsel_below(x, vdup(0.0), vmul(x, vdup(double{args.alpha})), x);
}
template <class V>
SVENGINE_INLINE V hard_sigmoid(V x, const ActivationArgs& args) {
  return vmin(vmax(vfma(x, vdup(double{args.alpha}), vdup(double{args.beta})), 0.0), 1.0);
}
template <class V>
SVENGINE_INLINE V hard_swish(V x, const ActivationArgs&) {
  return vmul(x, vmin(vmax(vfma(x, vdup(1.0 / 6), vdup(0.5)), 0.0), 1.0));
}
template <class V>
SVENGINE_INLINE V sigmoid(V x, const ActivationArgs&) {
  return vsigmoid_f64(x);
}
template <class V>
SVENGINE_INLINE V tanh(V x, const ActivationArgs&) {
  return vtanh_f64(x);
}
template <class V>
SVENGINE_INLINE V gelu(V x, const ActivationArgs&) {
  return vgelu_f64(x);
}
/// x / (1 + exp(-2 sqrt(2/pi) (x + 0.044715 x^3))), which has no cancellation.
template <class V>
SVENGINE_INLINE V gelu_tanh(V x, const ActivationArgs&) {
  constexpr double kTwoRoots = 0x1.9884533d43651p+0;  // 2 sqrt(2 / pi)
  return vmul(x, vsigmoid_f64(vmul(x, vfma(vmul(x, x), vdup(0.044715 * kTwoRoots), vdup(kTwoRoots)))));
}
template <class V>
SVENGINE_INLINE V silu(V x, const ActivationArgs&) {
  return vmul(x, vsigmoid_f64(x));
}

}  // namespace activation_f64

/// The function kKind, with a polynomial's coefficients where the loop has room for them.
template <Activation kKind, Coefficients kWhere = Coefficients::kRegisters, class V>
SVENGINE_INLINE V apply_any_activation(V x, [[maybe_unused]] const ActivationArgs& args) {
#define SVENGINE_FUSED_ACTIVATION(Name, name, ...) \
  if constexpr (kKind == Activation::k##Name) return activation::name<kWhere>(x, args);
#include "engine/kernels/activation.inc"
  return x;
}

template <Activation kKind, class V>
SVENGINE_INLINE V apply_activation_f64(V x, [[maybe_unused]] const ActivationArgs& args) {
#define SVENGINE_FUSED_ACTIVATION(Name, name, ...) \
  if constexpr (kKind == Activation::k##Name) return activation_f64::name(x, args);
#include "engine/kernels/activation.inc"
  return x;
}

/// activation(x) in every lane; lanes that hold rubbish give rubbish.
template <Activation kKind>
SVENGINE_INLINE vf apply_activation(vf x, const ActivationArgs& args) {
  return apply_any_activation<kKind>(x, args);
}
template <Activation kKind, int N>
SVENGINE_INLINE Many<N> apply_activation(Many<N> x, const ActivationArgs& args) {
  return apply_any_activation<kKind>(x, args);
}

template <Activation kKind>
SVENGINE_INLINE vd apply_activation(vd x, const ActivationArgs& args) {
  return apply_activation_f64<kKind>(x, args);
}
template <Activation kKind, int N>
SVENGINE_INLINE Many<N, vd> apply_activation(Many<N, vd> x, const ActivationArgs& args) {
  return apply_activation_f64<kKind>(x, args);
}

/// Calls body.template operator()<kind>() with `kind` as a template argument: the one switch of a whole loop.
template <class Body>
inline void dispatch_activation(Activation kind, const Body& body) {
  switch (kind) {
    case Activation::kNone: return body.template operator()<Activation::kNone>();
#define SVENGINE_FUSED_ACTIVATION(Name, ...) \
  case Activation::k##Name: return body.template operator()<Activation::k##Name>();
#include "engine/kernels/activation.inc"
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
