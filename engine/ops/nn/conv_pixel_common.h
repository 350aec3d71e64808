// Convolutions of images of one pixel: products of a matrix of images with the weights, in any layout, for a block of channels
// and one pixel is a piece of a row. Convolution kernels keep sums of several pixels to hide a multiply-add's latency; there is
// one.
#pragma once
#include "engine/kernels/conv.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// One pixel in, one out, one tap, one group.
bool is_pixel_conv(const kernels::ConvShape& shape);

/// Emits it, with constant weights in input 1 (and their scale in kConvWeightScale). `bias` is padded to whole blocks, or absent.
void emit_pixel_conv(LowerContext& c, const kernels::ConvShape& shape, Buffer bias, Buffer residual,
                     const kernels::ActivationArgs& activation);

}  // namespace svengine::ops
