// Convolution with an epilogue, on packed weights.
//
//   out[n][o][y] = activation(sum over i, k of in[n][group(o) + i][y * stride - pad + k * dilation] * weights[o][i][k]
//                             + bias[o] + residual[n][o][y])
//
// with y and k running over three spatial dimensions (depth, height, width; two-dimensional: depth 1; one-dimensional:
// depth and height 1). Input positions outside the image are zero. `pad` is the padding at the beginning; padding at the end
// follows from the output size, which the caller computes.
//
// Layouts. Blocked: [N][ceil(C / c)][H][W][c] with c = KernelTable::lanes; plain: row-major [N][C][D][H][W].
//
//   kind         input    output   when (see choose)
//   kDirect      blocked  blocked  depth 1; one group, or channels per group (in and out) multiples of c
//   kFirstLayer  plain    blocked  depth 1; one group of at most 4 input channels
//   kDepthwise   blocked  blocked  depth 1; groups = in_channels = out_channels
//   kGrouped     blocked  blocked  depth 1; anything else
//   kPlain       plain    plain    everything
//
// choose() gives the fastest kind; any kind whose row allows the shape may be used instead, for instance kDirect when three
// input channels are already blocked. The residual has the output's layout. Padding lanes of a blocked input are multiplied
// by zero weights or not read; they must be finite. Padding lanes of a blocked output are activation(0 + residual).
//
// Weights come in ONNX order [O][I / groups][KD][KH][KW] and are packed once for a shape, kind and kernel set; the packed
// form does not depend on batch and image size. A sum runs over channels, then rows, then columns of the kernel, in single
// precision with fused multiply-adds, starting from bias + residual: its order depends on the shape alone.
//
// Sizes, strides, dilations and groups are positive and groups divides both channel counts; an empty batch or output gives
// 0 tasks. Padding may be larger than the kernel, and the image smaller than it. Nothing may overlap, except that residual may
// be output. The rest is as task_kernel.h says.
#pragma once
#include <cstdint>

#include "engine/kernels/activation.h"
#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

enum class ConvKind : int32_t { kDirect, kFirstLayer, kDepthwise, kGrouped, kPlain };

inline constexpr int kConvKindCount = 5;

/// A size or position in space: depth, height, width.
struct ConvExtent {
  int64_t depth = 1;
  int64_t height = 1;
  int64_t width = 1;
};

struct ConvShape {
  int64_t batch = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t groups = 1;
  ConvExtent in;
  ConvExtent out;
  ConvExtent kernel;
  ConvExtent stride;
  ConvExtent dilation;
  ConvExtent pad = {0, 0, 0};  // at the beginning
};

struct ConvArgs {
  ConvShape shape;
  ConvKind kind = ConvKind::kDirect;
  const float* input = nullptr;
  const float* weights = nullptr;   // packed
  const float* bias = nullptr;      // out_channels, zero-padded to a multiple of c; null: none
  const float* residual = nullptr;  // null: none. May be output itself
  float* output = nullptr;
  ActivationArgs activation;
};

struct ConvPackArgs {
  ConvShape shape;
  ConvKind kind = ConvKind::kDirect;
  const float* weights = nullptr;  // ONNX order
  float* packed = nullptr;         // packed_bytes(shape, kind), 256-byte aligned for speed
};

struct ConvKernels {
  ConvKind (*choose)(const ConvShape& shape) noexcept;
  /// Bytes of the packed weights, a multiple of 256.
  int64_t (*packed_bytes)(const ConvShape& shape, ConvKind kind) noexcept;
  TaskKernel<ConvPackArgs> pack;
  TaskKernel<ConvArgs> run;
};

}  // namespace svengine::kernels
