// Convolution in which every channel lane has its own weights: out[lane] += in[lane] * weights[lane].
//
// The depthwise kernel is this with one input plane; a grouped one with an input plane for every channel of a group, whose
// lanes have been brought to where they are needed. A tile is kPixels neighbouring outputs of a row. Where the kernel's width
// and stride are known at compile time an input is loaded once for all the taps that use it (width 3, stride 1):
//
//      input      x0   x1   x2   x3   x4 ...
//      output 0   w0   w1   w2
//      output 1        w0   w1   w2
//      output 2             w0   w1   w2
//
// Of stride 1 wider kernels are taken by four columns at a time. What a tile reads beyond the image's borders is left out.
#pragma once
#include "engine/kernels/sve/conv/epilogue.h"
#include "engine/kernels/sve/conv/direct/plan.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

/// What all tiles of a call share; steps count floats.
struct LaneWalk {
  int64_t planes, plane_step;      // input planes of a sum
  int64_t row_step;                // between kernel rows, dilation included
  int64_t column_step;             // between kernel columns, dilation included
  int64_t pixel_step;              // between the inputs of neighbouring outputs
  int64_t kernel_height, kernel_width;
  Range columns;                   // of a row's input that exist, counted from output 0's first tap
  Clamp clamp;
};

struct LaneTile {
  const float* input;    // of pixel 0, plane 0, tap (0, 0), whether or not that exists
  const float* weights;  // [planes][kernel_height][kernel_width][kLanes]
  const float* bias;     // null: none
  const float* residual; // null: none
  float* output;
  Range rows;            // the taps that exist
  Range columns;         // of the tile's input that exist
  bool first, last;      // whether this begins, completes the sum
};

inline constexpr int kMostLanePixels = kMachine.vector_registers / 2;

using LaneFunction = void (*)(const LaneWalk& walk, const LaneTile& tile);

/// Tiles of one kind: at[n - 1] computes n pixels.
struct LaneFunctions {
  LaneFunction at[kMostLanePixels];
};

/// The functions for a kernel of this width, where at most `missing` columns of a row's input do not exist on either side.
const LaneFunctions& lane_functions(int64_t kernel_width, int64_t stride_width, int64_t dilation_width, int64_t missing);

/// `columns`: see LaneWalk.
LaneWalk lane_walk(const ConvShape& shape, int64_t row_floats, Range columns, const ActivationArgs& activation);

/// A row of outputs; `tile` describes the first of them, but for its columns, and moves on to the next row's. Tiles are spread evenly.
void run_lane_row(const LaneFunctions& functions, const LaneWalk& walk, LaneTile& tile, int64_t outputs);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
