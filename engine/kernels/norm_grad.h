// Gradients of layer norm and batch norm, float32.
//
// With h = (x - mean) inv_std, the normalised value, and g = dy scale:
//
//   layer norm, over each row of n:    dx = inv_std (g - mean(g) - h mean(g h))     dscale = sum over rows of dy h, dbias of dy
//   batch norm, over each channel:     dbias = sum dy,  dscale = sum dy h
//                                      training:   dx = scale inv_std (dy - dbias / m - h dscale / m),  m = batch * spatial
//                                      inference:  dx = scale inv_std dy
//
// Behind a batch norm there may be a Relu, y = max(norm(x) + residual, 0). The dy of the formulas is then what the Relu lets
// through of the gradient of y: all where y > 0 (or NaN), else 0. That is done as the gradient is read, without a pass of its own:
//
//   without a residual   y > 0 where x scale' + shift' > 0: neither y nor the masked gradient is ever in memory
//   with one             the first kernel reads y and writes the masked gradient, the residual's, which the second one reads
//
// Sums are blocked and compensated along lines, in an order fixed by the shape. dx may be dy; otherwise nothing may overlap.
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

/// One task is `rows_each` rows: it writes their dx, and their sums of dy h and dy to partial[task], [2][n]. Adding the partial
/// sums up over the ceil(rows / rows_each) tasks gives dscale and dbias. n is positive.
struct RowNormGradArgs {
  const float* x = nullptr;   // [rows, n]
  const float* dy = nullptr;  // [rows, n]
  const float* scale = nullptr;    // [n]
  const float* mean = nullptr;     // [rows]
  const float* inv_std = nullptr;  // [rows]
  float* dx = nullptr;             // [rows, n]; null: not wanted
  float* partial = nullptr;        // [tasks][2][n]; null: not wanted
  int64_t rows = 0, n = 0;
  int64_t rows_each = 1;
};

/// sums[b][0][c] = sum dy (x - mean[c]) inv_std[c] and sums[b][1][c] = sum dy, of every image; added up over b these are dscale
/// and dbias. A Relu behind the norm is there when either `scale` or `y` is.
struct ChannelGradSumsArgs {
  const float* x = nullptr;        // [batch, channels, spatial], or [batch][ceil(channels / lanes)][spatial][lanes] where blocked
  const float* dy = nullptr;       // likewise
  const float* mean = nullptr;     // [channels]
  const float* inv_std = nullptr;  // [channels]
  float* sums = nullptr;           // [batch][2][channels, rounded up to whole blocks where blocked]
  int64_t batch = 0, channels = 0, spatial = 0;
  bool blocked = false;
  const float* scale = nullptr;    // [channels]: what channel_affine (norm.h) computed y = max(x scale + shift, 0) with
  const float* shift = nullptr;    // [channels]
  const float* y = nullptr;        // laid out like x
  const float* dy_more = nullptr;  // like x, with `y` only: the gradient of y is dy + dy_more; null: dy
  float* masked = nullptr;         // like x, with `y` only: that gradient where y > 0, else 0; may be dy or dy_more
};

/// dx = a[c] dy + b[c] x + k[c]: what is left of batch norm's gradient once the sums are known. Padding lanes of blocks become 0.
struct ChannelGradArgs {
  const float* x = nullptr;   // layouts as above
  const float* dy = nullptr;  // what the sums were taken of: `masked` where that was written
  float* dx = nullptr;
  const float* a = nullptr;
  const float* b = nullptr;
  const float* k = nullptr;
  int64_t batch = 0, channels = 0, spatial = 0;
  bool blocked = false;
  const float* scale = nullptr;  // [channels]: as above; dy counts where x scale + shift > 0
  const float* shift = nullptr;  // [channels]
};

}  // namespace svengine::kernels
