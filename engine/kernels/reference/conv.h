// Convolution in double precision on plain layouts: the oracle of the convolution kernels.
#pragma once
#include <vector>

#include "engine/kernels/conv.h"

namespace svengine::kernels {

struct ReferenceConv {
  std::vector<double> output;  // [N][O][D][H][W]
  std::vector<double> error;   // how far a kernel that sums floats one by one, in any order, may be off
};

/// The formula of conv.h on plain arrays and weights in ONNX order; bias and residual may be null. The error bound before the
/// activation is (terms + 2) * 2^-24 * (sum of |products| + |bias| + |residual|): one rounding for each fused multiply-add
/// and for each of the two other terms, to first order in 2^-24, and as much again for the higher orders: (1 + 2^-10).
ReferenceConv reference_conv(const ConvShape& shape, const float* input, const float* weights, const float* bias,
                             const float* residual, const ActivationArgs& activation);

}  // namespace svengine::kernels
