// Functions over contiguous elements: x + begin to x + end into y.
#pragma once
#include "engine/kernels/elementwise.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {

using UnaryFunction = void (*)(const UnaryArgs& args, int64_t begin, int64_t end) noexcept;

/// A null function for what is not there.
UnaryFunction find_unary_f32(UnaryOp op) noexcept;
UnaryFunction find_unary_exponential(UnaryOp op) noexcept;  // exp, sigmoid, SiLU of floats
UnaryFunction find_unary_lockstep(UnaryOp op) noexcept;     // erf, tanh, GELU of floats
UnaryFunction find_unary_f64(UnaryOp op) noexcept;          // of doubles, but for plain loops
UnaryFunction find_unary_plain(UnaryOp op, DType type) noexcept;  // integers, bool, double; identity of any type

/// Whether one of the second and third has it.
constexpr bool is_long_chain(Activation kind) {
  return kind == Activation::kSigmoid || kind == Activation::kSilu || kind == Activation::kTanh || kind == Activation::kGelu ||
         kind == Activation::kGeluTanh;
}

/// y = activation(y) for n floats.
void activate(const ActivationArgs& activation, float* y, int64_t n) noexcept;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
