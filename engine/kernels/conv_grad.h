// The gradient of a convolution's weights, on the layouts of the forward kernels (conv.h).
//
//   dw[o][i][ky][kx] = sum over n, y, x of dy[n][o][y][x] * in[n][i][y * stride - pad + ky * dilation][likewise x]
//   db[o] = sum over n, y, x of dy[n][o][y][x], if wanted
//
// for depth 1, and one group, or groups that lie within a block: they have as many outputs as inputs, of which a block is a multiple
// (depthwise layers: 1). Channel i of the input is then the i-th of o's group, and the input is blocked. dy is blocked; the input is
// blocked, or plain (a first layer with few channels) if its columns are not dilated. Two kernels, one after the other, over the same
// arguments:
//
//   sums     adds up products; small layers in several parts, each over its own pixels, so that all cores have work
//   finish   adds the parts up in their order and turns the result into ONNX order
//
// A sum runs over images, then rows, then columns, in single precision with fused multiply-adds; how many parts there are depends
// on the shape alone. Unless `exact`, 3 x 3 layers with stride 1 are summed by Winograd's algorithm where that takes less time: its
// rounding errors are larger (reference/conv_winograd.h bounds them), and an infinity or NaN reaches all taps. Padding lanes of dy and
// the input must be finite. Nothing may overlap. All sizes are positive.
#pragma once
#include <cstdint>

#include "engine/kernels/conv.h"
#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

struct ConvWeightGradArgs {
  ConvShape shape;              // of the forward pass
  bool plain_input = false;     // [N][I][H][W]
  bool bias = false;            // db is wanted
  bool exact = false;           // the products themselves are summed, whatever that costs
  const float* input = nullptr;
  const float* dy = nullptr;    // blocked
  float* sums = nullptr;        // ConvWeightGradKernels::sums_bytes, 256-byte aligned; null when that is 0
  float* dw = nullptr;          // [O][I / groups][KH][KW]
  float* db = nullptr;          // [O]
};

struct ConvWeightGradKernels {
  /// Memory between the two kernels. `sums` needs dw too: with 0 bytes it writes there, and `finish` has nothing to do.
  int64_t (*sums_bytes)(const ConvWeightGradArgs& args) noexcept;
  TaskKernel<ConvWeightGradArgs> sums;
  TaskKernel<ConvWeightGradArgs> finish;
};

}  // namespace svengine::kernels
