// Convolutions of 8-bit integers. Images are channels-last there: windows are rows of a product, without a copy of them in memory.
#pragma once
#include "engine/kernels/conv.h"
#include "engine/ops/quantized/integer_product_common.h"

namespace svengine::ops {

/// Whether the node's image and result are [N, spatial..., C] (attribute "channels_last", of the engine's own nodes), not [N, C,
/// spatial...].
bool is_channels_last(const Attributes& attributes);

/// Type of the output of a convolution with image x [N, C, spatial...] (or channels last) and weights w [M, C / group, kernel...].
Result<Shape> integer_conv_shape(const InferContext& c, size_t x, size_t w);

struct IntegerConv {
  size_t x = 0, w = 1;
  Numbers x_zero, w_zero;  // one; one, or one an output channel
  IntegerEpilogue epilogue;
};

/// Emits the steps, the result in output 0.
Status emit_integer_conv(LowerContext& c, const IntegerConv& conv);

/// Multiplications and additions of the node's sums, and its operands' bytes.
Cost integer_conv_cost(const Node& node, size_t w);

}  // namespace svengine::ops
