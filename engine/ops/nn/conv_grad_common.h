// The two gradients of a convolution, on plain layouts, as matrix products over columns (kernels/window_grad.h):
//
//   columns of an image and group   [channels of the group * taps][outputs]
//   by data:     columns = W' dY,   dX = fold(columns)
//   by weights:  dW = sum over images of dY unfold(X)'
//
// A 1 x 1 kernel with stride 1 and no padding has its image for columns. Images go in chunks, so that columns stay of a bounded
// size; sums over images are in their order.
#pragma once
#include "engine/graph/op_def.h"
#include "engine/kernels/pool.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// A convolution's sizes as its gradients see them.
struct ConvGrad {
  kernels::PoolShape window;  // of the input: batch and all input channels
  int64_t groups = 1;
  int64_t out_channels = 1;

  int64_t taps() const { return window.kernel.depth * window.kernel.height * window.kernel.width; }
  int64_t outputs() const { return window.out.depth * window.out.height * window.out.width; }
  int64_t inputs() const { return window.in.depth * window.in.height * window.in.width; }
  /// Rows of a group's columns.
  int64_t rows() const { return window.channels / groups * taps(); }
  int64_t group_outs() const { return out_channels / groups; }
  /// The image is its own columns.
  bool direct() const;
};

/// From the attributes of Conv and the shapes of X and W.
Result<ConvGrad> conv_grad_of(const Attributes& attributes, const Dims& x, const Dims& w);

/// Conv's attributes, and "shape" (ops/like.h).
std::vector<AttributeDef> conv_grad_attributes();

/// The output has the shape of input 2; inputs 0 and 1, dy and the other operand, are of one type.
Status infer_conv_grad(InferContext& c);

/// Refuses a dy, input 0, that is not of the shape which Conv with these attributes gives for X and W.
Status check_conv_grad(const InferContext& c, const Shape& x, const Shape& w);

/// dX from dY and W.
void emit_conv_grad_input(LowerContext& c, const ConvGrad& g, Buffer dy, Buffer w, Buffer dx);
/// dW from dY and X.
void emit_conv_grad_weights(LowerContext& c, const ConvGrad& g, Buffer dy, Buffer x, Buffer dw);

}  // namespace svengine::ops
