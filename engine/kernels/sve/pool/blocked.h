// Tiles of pooling windows in NCHWc.
#pragma once
#include "engine/kernels/sve/pool/op.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::pool {

struct Tile {
  const float* input;  // of pixel 0, tap (0, 0, 0), whether or not that is inside the image
  float* output;
  Range planes, rows, columns;                   // the taps that exist
  int64_t plane_step, row_step, column_step;     // floats between taps
  int64_t pixel_step;                            // floats between the windows of neighbouring outputs
  float scale;
  int32_t power;
};

using TileFunction = void (*)(const Tile& tile);

/// Computes a row's maxima; `tile` describes output 0 of the row, but for its columns, and moves on.
using MaxRow = void (*)(const PoolArgs& args, Tile& tile);

/// For maxima over windows of the usual widths; null: any other pooling.
MaxRow max_row_for(const PoolArgs& args);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::pool
