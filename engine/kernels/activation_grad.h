// Gradients of functions of one float32 operand, element by element:
//
//   dx = dy f'(v)
//
// v is what f' is cheapest from: the function's input x or its result y = f(x), as said behind each. The work is cut into tasks
// of kElementwiseTask elements (elementwise.h). dx may be dy or v; otherwise nothing may overlap. Where f has a kink, f' is what
// PyTorch takes: 0 for Relu at 0, 1 for Clip at its bounds. Relative to the largest |f'| the error is at most 2^-21.
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

enum class GradientOf : int32_t {
  kRelu,         // y:  y <= 0 ? 0 : 1
  kLeakyRelu,    // x:  x > 0 ? 1 : a
  kClip,         // x:  a <= x <= b
  kSigmoid,      // y:  y (1 - y)
  kTanh,         // y:  1 - y^2
  kErf,          // x:  2 / sqrt(pi) exp(-x^2)
  kGelu,         // x:  1/2 (1 + erf(x / sqrt 2)) + x exp(-x^2 / 2) / sqrt(2 pi)
  kGeluTanh,     // x:  of x/2 (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3)
  kSilu,         // x:  s (1 + x (1 - s)), s = sigmoid(x)
  kSoftplus,     // x:  sigmoid(x)
  kElu,          // x:  x > 0 ? 1 : a exp(x)
  kHardSigmoid,  // y:  0 < y < 1 ? a : 0
  kHardSwish,    // x:  0 below -3, 1 above 3, else x / 3 + 1/2
};
inline constexpr int kGradientOfCount = 13;

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
