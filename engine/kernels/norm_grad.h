// Gradients of layer norm and batch norm, float32.
//
// With h = (x - mean) inv_std, the normalised value, and g = dy scale:
//
//   layer norm, over each row of n:    dx = inv_std (g - mean(g) - h mean(g h))     dscale = sum over rows of dy h, dbias of dy
//   batch norm, over each channel:     dbias = sum dy,  dscale = sum dy h
//                                      training:   dx = scale inv_std (dy - dbias / m - h dscale / m),  m = batch * spatial
//                                      inference:  dx = scale inv_std dy
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

/// sums[b][0][c] = sum dy (x - mean[c]) inv_std[c] and sums[b][1][c] = sum dy, of every image; added up over b these are dscale and
/// dbias.
struct ChannelGradSumsArgs {
  const float* x = nullptr;        // [batch, channels, spatial], or [batch][ceil(channels / lanes)][spatial][lanes] where blocked
  const float* dy = nullptr;       // likewise
  const float* mean = nullptr;     // [channels]
  const float* inv_std = nullptr;  // [channels]
  float* sums = nullptr;           // [batch][2][channels, rounded up to whole blocks where blocked]
  int64_t batch = 0, channels = 0, spatial = 0;
  bool blocked = false;
};

/// dx = a[c] dy + b[c] x + k[c]: what is left of batch norm's gradient once the sums are known. Padding lanes of blocks become 0.
struct ChannelGradArgs {
  const float* x = nullptr;  // layouts as above
  const float* dy = nullptr;
  float* dx = nullptr;
  const float* a = nullptr;
  const float* b = nullptr;
  const float* k = nullptr;
  int64_t batch = 0, channels = 0, spatial = 0;
  bool blocked = false;
};

}  // namespace svengine::kernels
