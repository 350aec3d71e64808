// The end of a convolution: activations that are a minimum and a maximum happen in registers, the others in a second pass over
// what has just been stored.
#pragma once
#include "engine/kernels/activation.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

/// min(max(x, lowest), highest), NaN staying NaN.
struct Clamp {
  bool applies;
  float lowest, highest;
};

constexpr Clamp clamp_of(const ActivationArgs& activation) {
  if (activation.kind == Activation::kRelu) return {true, 0.0f, __builtin_inff()};
  if (activation.kind == Activation::kClip) return {true, activation.alpha, activation.beta};
  return {false, 0.0f, 0.0f};
}

/// Whether activate() has something left to do.
constexpr bool activates_later(const ActivationArgs& activation) {
  return activation.kind != Activation::kNone && !clamp_of(activation).applies;
}

/// activation(x) over `count` floats in place.
void activate(const ActivationArgs& activation, float* values, int64_t count);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
