// The end of a convolution: activations that are a minimum and a maximum happen in registers, the others in a second pass over
// what has just been stored.
#pragma once
#include "engine/kernels/activation.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

/// x = max(x, lowest) if below, then x = min(x, highest) if above; NaN stays NaN.
struct Clamp {
  bool below, above;
  float lowest, highest;
};

constexpr Clamp clamp_of(const ActivationArgs& activation) {
  if (activation.kind == Activation::kRelu) return {true, false, 0.0f, 0.0f};
  if (activation.kind == Activation::kClip) return {true, true, activation.alpha, activation.beta};
  return {false, false, 0.0f, 0.0f};
}

/// Whether activate() has something left to do.
constexpr bool activates_later(const ActivationArgs& activation) {
  return activation.kind != Activation::kNone && !clamp_of(activation).below;
}

/// activation(x) over `count` floats in place.
void activate(const ActivationArgs& activation, float* values, int64_t count);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
