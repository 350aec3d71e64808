// Gradients in float64, where kernels are for float32: plain loops, and rules that are made of operators with float64 of their own.
#pragma once
#include "engine/graph/gradient.h"
#include "engine/kernels/gradient.h"
#include "engine/ops/lowering.h"
#include "engine/ops/nn/conv_grad_common.h"

namespace svengine::ops::wide {

/// Is the gradient to be in float64?
inline bool is_wide_gradient(const GradientContext& c) { return c.input(0)->type.dtype == DType::f64; }

/// dW of ConvGradWeights' inputs.
void emit_conv_grad_weights(LowerContext& c, const ConvGrad& g);
/// dX of PoolGrad's inputs; `args` as for the kernel.
void emit_pool_grad(LowerContext& c, const kernels::PoolGradArgs& args);
/// dx of GatherGrad's inputs.
void emit_gather_grad(LowerContext& c, int64_t outer, int64_t extent, int64_t inner);
/// dx of ActivationGrad's inputs.
void emit_activation_grad(LowerContext& c, kernels::GradientOf function, double alpha, double beta);

/// Rules: of a softmax along `axis`, and all behind it if `coerced`; of a norm over `axes` with scale and bias (inputs 1 and 2), which
/// broadcast to x once they have these dimensions; a given mean and variance (of scale's shape) are constants.
Status set_softmax_gradient(GradientContext& c, bool log);
struct NormOperands {
  std::vector<int64_t> axes;   // that mean and variance are taken over
  std::vector<int64_t> per_channel;  // dimensions that scale and bias are given; empty: they broadcast as they are
  Value *mean = nullptr, *variance = nullptr;
};
Status set_norm_gradient(GradientContext& c, const NormOperands& norm);

}  // namespace svengine::ops::wide
