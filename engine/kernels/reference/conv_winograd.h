// How far Winograd's convolution may be off.
#pragma once
#include "engine/kernels/reference/conv.h"
#include "engine/kernels/reference/gradient.h"

namespace svengine::kernels {

/// The output of reference_conv, for a convolution of one group with 3 x 3 taps, stride and dilation 1 in a plane, and the error bound of
/// F(4x4, 3x3) with the matrices of sve/conv/winograd/winograd.h. Before the activation it is
///
///   (channels * kernel depth + 18) * 2^-24 * (1 + 2^-10) * (|A^T| [sum over channels, planes of (|G| |g| |G^T|) * (|B^T| |d| |B|)] |A|
///                                             + |bias| + |residual|)
///
/// since every path from an operand to the output goes through at most 4 roundings while inputs are transformed, 4 while weights
/// are, one for each channel, 6 while sums are transformed, 2 of the scale, and 2 for bias and residual; (1 + 2^-10) covers the
/// higher orders.
ReferenceConv reference_winograd(const ConvShape& shape, const float* input, const float* weights, const float* bias,
                                 const float* residual, const ActivationArgs& activation);

/// reference_conv_weight_grad of such a convolution with the error bound of sve/conv/weight_grad/winograd.h's sums, which is
///
///   (tiles + 24) * 2^-24 * (1 + 2^-10) * |G^T| [sum over tiles of (|A| |dy| |A^T|) * (|B^T| |d| |B|)] |G|
///
/// by the same count of roundings: 4 of inputs, 6 of dy, one for each tile or part, 10 of the fold and its constants.
ReferenceGradient reference_winograd_weight_grad(const ConvWeightGradArgs& args, int64_t lanes);

}  // namespace svengine::kernels
