// Activations on vectors, chosen at compile time so that an epilogue has no switch per element.
#pragma once
#include "engine/kernels/activation.h"
#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// Those of a few instructions. FMAX and FMIN let NaN through (FMAXNM would not).
template <Activation kKind>
inline vf apply_simple_activation(vf x, [[maybe_unused]] const ActivationArgs& args) {
  const vb all = svptrue_b32();
  [[maybe_unused]] const vf zero = svdup_f32(0.0f);
  if constexpr (kKind == Activation::kNone) {
    return x;
  } else if constexpr (kKind == Activation::kRelu) {
    return svmax_x(all, x, 0.0f);
  } else if constexpr (kKind == Activation::kClip) {
    const vf at_least = svmax_x(all, x, args.alpha);
    return svmin_x(all, at_least, args.beta);
  } else if constexpr (kKind == Activation::kLeakyRelu) {
    const vf scaled = svmul_x(all, x, svdup_f32(args.alpha));
    return svsel(svcmplt(all, x, zero), scaled, x);
  } else if constexpr (kKind == Activation::kHardSigmoid) {
    const vf line = svmla_x(all, svdup_f32(args.beta), x, svdup_f32(args.alpha));
    const vf at_least = svmax_x(all, line, 0.0f);
    return svmin_x(all, at_least, 1.0f);
  } else {
    static_assert(kKind == Activation::kHardSwish);
    const vf line = svmla_x(all, svdup_f32(0.5f), x, svdup_f32(1.0f / 6.0f));
    const vf at_least = svmax_x(all, line, 0.0f);
    const vf gate = svmin_x(all, at_least, 1.0f);
    return svmul_x(all, x, gate);
  }
}

/// V is vf or Many.
template <Activation kKind, Coefficients kWhere = Coefficients::kRegisters, class V>
SVENGINE_INLINE V apply_any_activation(V x, const ActivationArgs& args) {
  if constexpr (kKind == Activation::kSigmoid) {
    return vsigmoid(x);
  } else if constexpr (kKind == Activation::kTanh) {
    return vtanh<kWhere>(x);
  } else if constexpr (kKind == Activation::kGelu) {
    return vgelu<kWhere>(x);
  } else if constexpr (kKind == Activation::kGeluTanh) {
    const V scale = vfma(vmul(x, x), vdup(0.035677408136300125f), vdup(0.79788456080286536f));
    const V tanh = vtanh<kWhere>(vmul(x, scale));  // of sqrt(2/pi) * (x + 0.044715 x^3)
    const V half = vmul(x, vdup(0.5f));
    return vfma(half, tanh, half);
  } else if constexpr (kKind == Activation::kSilu) {
    return vmul(x, vsigmoid(x));
  } else {
    return veach([&args](vf v) SVENGINE_INLINE_LAMBDA { return apply_simple_activation<kKind>(v, args); }, x);
  }
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

/// Calls body.template operator()<kind>() with `kind` as a template argument: the one switch of a whole loop.
template <class Body>
inline void dispatch_activation(Activation kind, const Body& body) {
  switch (kind) {
    case Activation::kNone: return body.template operator()<Activation::kNone>();
    case Activation::kRelu: return body.template operator()<Activation::kRelu>();
    case Activation::kClip: return body.template operator()<Activation::kClip>();
    case Activation::kLeakyRelu: return body.template operator()<Activation::kLeakyRelu>();
    case Activation::kHardSigmoid: return body.template operator()<Activation::kHardSigmoid>();
    case Activation::kHardSwish: return body.template operator()<Activation::kHardSwish>();
    case Activation::kSigmoid: return body.template operator()<Activation::kSigmoid>();
    case Activation::kTanh: return body.template operator()<Activation::kTanh>();
    case Activation::kGelu: return body.template operator()<Activation::kGelu>();
    case Activation::kGeluTanh: return body.template operator()<Activation::kGeluTanh>();
    case Activation::kSilu: return body.template operator()<Activation::kSilu>();
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
