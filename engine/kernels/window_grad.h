// Backward passes of what slides a window over images: pooling, and convolution as a matrix product.
//
// Plain layouts, but for pooling, which has both; a plane is one channel of one image, and PoolShape (pool.h) describes its window: planes
// = batch * channels. Every element of a result is a sum in an order fixed by the shape: outputs row by row and left to right in vectors,
// taps in row-major order within them. Nothing may overlap. Tasks own planes (unfold: rows of columns).
//
//   fold      dx[p][in(o, t)] = sum over o, t of columns[p][t][o]      in(o, t) = o * stride - pad + t * dilation
//   unfold    columns[p][t][o] = x[p][in(o, t)], 0 outside             the transpose of fold
//   max       dx[p][in(o, t*)] += dy[p][o], t* being the first tap with the largest input (the first NaN if there is one)
//   average   dx[p][in(o, t)] += dy[p][o] / count(o), counted as pool.h says
//
// with t running over the taps of the kernel and o over the outputs. In `columns` a plane has taps x outputs elements, so that
// the planes of an image are the matrix [channels * taps][outputs] of a convolution.
#pragma once
#include "engine/kernels/pool.h"

namespace svengine::kernels {

struct UnfoldArgs {
  PoolShape shape;
  const float* x = nullptr;  // [planes][in]
  float* columns = nullptr;  // [planes][taps][out]
};

struct FoldArgs {
  PoolShape shape;
  const float* columns = nullptr;
  float* dx = nullptr;
};

struct PoolGradArgs {
  PoolKind kind = PoolKind::kMax;  // or kAverage
  PoolShape shape;
  bool count_padding = false;  // kAverage
  bool blocked = false;        // x, dy and dx: [N][ceil(C / lanes)][D][H][W][lanes]
  const float* x = nullptr;    // kMax
  const float* dy = nullptr;   // [planes][out]
  float* dx = nullptr;         // [planes][in]
};

}  // namespace svengine::kernels
