// Activations that product kernels apply to their results before storing them, and elementwise kernels apply alone.
#pragma once
#include <cstdint>

namespace svengine::kernels {

/// A function of one float, a row of activation.inc. NaN gives NaN in every one of them. Where the formula meets infinity times zero the result is
/// NaN, as in ONNX Runtime and PyTorch (gelu, gelu_tanh, silu and hard_swish of -infinity).
enum class Activation : int32_t {
  kNone,  // x
#define SVENGINE_FUSED_ACTIVATION(Name, ...) k##Name,
#include "engine/kernels/activation.inc"
};

inline constexpr int kActivationCount = 0
#define SVENGINE_FUSED_ACTIVATION(...) +1
#include "engine/kernels/activation.inc"
    + 1;

struct ActivationArgs {
  Activation kind = Activation::kNone;
  float alpha = 0, beta = 0;  // of the formula
};

}  // namespace svengine::kernels
