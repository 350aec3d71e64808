// Backward passes in double precision, by their formulas: the oracle of the kernels of gradient.h.
#pragma once
#include <vector>

#include "engine/kernels/gradient.h"

namespace svengine::kernels {

/// f'(v) as activation_grad.h defines it.
double reference_slope(GradientOf of, double v, double alpha, double beta);

/// dy f'(v). Functions that are constant somewhere let nothing of dy through there, be it infinite or NaN.
double reference_gradient(GradientOf of, double dy, double v, double alpha, double beta);

/// A result, and how far a kernel that computes in single precision may be off: a few roundings of the sum of magnitudes.
struct ReferenceGradient {
  std::vector<double> value, error;
};

/// What the kernels of the same names compute from args' inputs; the pointers to results are not used.
ReferenceGradient reference_gather_grad(const GatherGradArgs& args);
ReferenceGradient reference_softmax_grad(const SoftmaxGradArgs& args);
ReferenceGradient reference_pool_grad(const PoolGradArgs& args);
/// In ONNX order.
ReferenceGradient reference_conv_weight_grad(const ConvWeightGradArgs& args, int64_t lanes);
ReferenceGradient reference_fold(const FoldArgs& args);
std::vector<float> reference_unfold(const UnfoldArgs& args);

struct ReferenceRowNormGrad {
  ReferenceGradient dx, dscale, dbias;
};
ReferenceRowNormGrad reference_row_norm_grad(const RowNormGradArgs& args);
}  // namespace svengine::kernels
