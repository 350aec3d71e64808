// Activations that product kernels apply to their results before storing them, and elementwise kernels apply alone.
#pragma once
#include <cstdint>

namespace svengine::kernels {

/// A function of one float. NaN gives NaN in every one of them. Where the formula meets infinity times zero the result is
/// NaN, as in ONNX Runtime and PyTorch (gelu, gelu_tanh, silu and hard_swish of -infinity).
enum class Activation : int32_t {
  kNone,         // x
  kRelu,         // max(x, 0)
  kClip,         // min(max(x, alpha), beta); relu6 is alpha 0, beta 6
  kLeakyRelu,    // x < 0 ? alpha * x : x
  kHardSigmoid,  // min(max(alpha * x + beta, 0), 1)
  kHardSwish,    // x * min(max(x / 6 + 1/2, 0), 1)
  kSigmoid,      // 1 / (1 + e^-x)
  kTanh,         // tanh x
  kGelu,         // x/2 * (1 + erf(x / sqrt 2))
  kGeluTanh,     // x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
  kSilu,         // x / (1 + e^-x)
};

inline constexpr int kActivationCount = 11;

struct ActivationArgs {
  Activation kind = Activation::kNone;
  float alpha = 0;  // kClip: lower bound; kLeakyRelu, kHardSigmoid: slope; otherwise unused
  float beta = 0;   // kClip: upper bound; kHardSigmoid: offset; otherwise unused
};

}  // namespace svengine::kernels
