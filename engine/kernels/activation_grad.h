// Gradients of functions of one float32 operand, element by element:
//
//   dx = dy f'(v)
//
// v is what f' is cheapest from: the function's input x or its result y = f(x), as activation.inc says. The work is cut into tasks
// of kElementwiseTask elements (elementwise.h). dx may be dy or v; otherwise nothing may overlap. Where f has a kink, f' is what
// PyTorch takes: 0 for Relu at 0, 1 for Clip at its bounds. Relative to the largest |f'| the error is at most 2^-21.
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

/// The functions with a slope of their own, rows of activation.inc.
enum class GradientOf : int32_t {
#define SVENGINE_ACTIVATION(Name, name, from, ...) SVENGINE_WITH_SLOPE_##from(k##Name, )
#include "engine/kernels/activation.inc"
};
inline constexpr int kGradientOfCount = 0
#define SVENGINE_ACTIVATION(Name, name, from, ...) SVENGINE_WITH_SLOPE_##from(+1)
#include "engine/kernels/activation.inc"
    ;

/// What v is.
enum class SlopeFrom : uint8_t { kInput, kResult };
inline constexpr SlopeFrom kSlopeFrom[] = {
#define SVENGINE_ACTIVATION(Name, name, from, ...) SVENGINE_WITH_SLOPE_##from(SlopeFrom::from, )
#include "engine/kernels/activation.inc"
};

/// dx[i] = dy[i] * f'(v[i]), i < n.
struct ActivationGradArgs {
  GradientOf of = GradientOf::kRelu;
  const float* dy = nullptr;
  const float* v = nullptr;
  float* dx = nullptr;
  int64_t n = 0;
  float alpha = 0, beta = 0;
};

}  // namespace svengine::kernels
