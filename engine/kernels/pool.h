// Pooling: windows that slide over an image, and global pooling.
//
//   kMax      out = the largest input in the window; NaN if there is one
//   kAverage  out = sum of the inputs in the window / number of positions counted
//   kLp       out = (sum of |input|^power)^(1 / power)
//
// The window of output y is the input positions y * stride - pad + k * dilation, k < kernel, in three spatial dimensions
// (two-dimensional: depth 1; one-dimensional: depth and height 1). Positions outside the image do not take part. kAverage
// counts the positions inside the image, or with `count_padding` those inside the padded image; positions beyond the padding
// at the end, which rounding the output size up can give, are never counted. A window with no input at all gives -infinity
// (kMax), 0 (kLp), and 0 or NaN (kAverage: with or without counted positions).
//
// Layouts, of input and output alike. Blocked: [N][ceil(C / c)][D][H][W][c] with c = KernelTable::lanes, padding lanes in,
// padding lanes out; plain: row-major [N][C][D][H][W].
//
// Sums run over depth, then rows, then columns of the window, in single precision; a global sum runs in a fixed number of
// interleaved partial sums that are then added in a fixed order. The order depends on the shape alone. The average multiplies
// by the rounded reciprocal of the count. kLp is exact to (window + power + 16) * 2^-23 times the result.
//
// Sizes, strides, dilations and power are positive; padding may be larger than the kernel. An image of a channel has fewer than
// 2^31 positions. Nothing may overlap. The rest is as task_kernel.h says.
#pragma once
#include <cstdint>

#include "engine/kernels/extent.h"
#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

enum class PoolKind : int32_t { kMax, kAverage, kLp };

struct PoolShape {
  int64_t batch = 1;
  int64_t channels = 1;
  Extent in;
  Extent out;
  Extent kernel;
  Extent stride;
  Extent dilation;
  Extent pad = {0, 0, 0};      // at the beginning
  Extent pad_end = {0, 0, 0};  // matters to count_padding only
};

struct PoolArgs {
  PoolKind kind = PoolKind::kMax;
  bool blocked = false;
  PoolShape shape;
  bool count_padding = false;  // kAverage
  int32_t power = 2;           // kLp
  const float* input = nullptr;
  float* output = nullptr;
  /// kMax on plain layout only; null: none. Where each maximum (the first of equal ones; the first NaN) lies in the whole
  /// input: the index of its channel's first element, plus (z * H + y) * W + x, or plus x * H * D + y * D + z if
  /// column_major_indices (ONNX: storage_order 1; its two-dimensional form is x * H + y). An empty window has index 0 there.
  int64_t* indices = nullptr;
  bool column_major_indices = false;
};

/// One result for each image and channel, from all its positions: output [N][C], or [N][ceil(C / c)][c] if blocked, which is
/// the same where c divides C.
struct GlobalPoolArgs {
  PoolKind kind = PoolKind::kAverage;
  bool blocked = false;
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t size = 1;  // positions of a channel
  int32_t power = 2;
  const float* input = nullptr;
  float* output = nullptr;
};

struct PoolKernels {
  TaskKernel<PoolArgs> window;
  TaskKernel<GlobalPoolArgs> global;
};

}  // namespace svengine::kernels
