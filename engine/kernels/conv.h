// Convolution with an epilogue, on packed weights.
//
//   out[n][o][y] = activation(sum over i, k of in[n][group(o) + i][y * stride - pad + k * dilation] * weights[o][i][k]
//                             + bias[o] + residual[n][o][y])
//
// with y and k running over three spatial dimensions (depth, height, width; two-dimensional: depth 1; one-dimensional:
// depth and height 1). Input positions outside the image are zero. `pad` is the padding at the beginning; padding at the end
// follows from the output size, which the caller computes.
//
// Layouts. Blocked: [N][ceil(C / c)][D][H][W][c] with c = KernelTable::lanes; plain: row-major [N][C][D][H][W].
//
//   kind         input    output   when (see choose)
//   kDirect      blocked  blocked  one group, or channels per group (in and out) multiples of c
//   kFirstLayer  plain    blocked  one group of at most 4 input channels
//   kDepthwise   blocked  blocked  is_flat; groups = in_channels = out_channels
//   kGrouped     blocked  blocked  is_flat; anything else
//   kPlain       plain    plain    everything
//   kWinograd    blocked  blocked  one group, 3 x 3 in a plane, stride and dilation 1 there
//
// choose() gives the fastest kind; any kind whose row allows the shape may be used instead, for instance kDirect when three
// input channels are already blocked. The residual has the output's layout. Padding lanes of a blocked input are multiplied
// by zero weights or not read; they must be finite. Padding lanes of a blocked output are activation(0 + residual).
//
// Weights come in ONNX order [O][I / groups][KD][KH][KW] and are packed once for a ConvPacking and kernel set: packing() says which one
// a shape and kind need, and it does not depend on batch and image size. A sum runs over planes of the kernel, then blocks of
// channels (kPlain: channels), rows, columns and the channels of a block, in single precision with fused multiply-adds, starting from
// bias + residual: its order depends on the shape alone.
//
// A weight that is infinite or NaN may or may not meet the padding's zeros, by kind: results next to the border are then either.
//
// kWinograd is F(4x4, 3x3): a quarter of the multiplications, and rounding errors about ten times those of the other kinds
// (4.5e-6 to 1.4e-5 of the largest output for random layers of 64 to 512 channels; bounded by
// kernels/reference/conv_winograd.h). An infinity or NaN in its input spreads over the 4 x 4 outputs of every tile that reads
// it. choose(shape, exact = true) never gives it.
//
// Work is cut by shape alone. Every pair of `x_tasks` and `x` computes the tasks [begin, end); tasks are small and
// independent, neighbours share operands, so give every thread one contiguous range. Results are bitwise the same however the
// range is cut. All functions are thread-safe, allocate nothing and check nothing. Sizes, strides, dilations and groups are
// positive and groups divides both channel counts; an empty batch or output gives 0 tasks. Padding may be larger than the
// kernel, and the image smaller than it. Nothing may overlap, except that residual may be output.
#pragma once
#include <cstdint>

#include "engine/kernels/activation.h"
#include "engine/kernels/extent.h"

namespace svengine::kernels {

enum class ConvKind : int32_t { kDirect, kFirstLayer, kDepthwise, kGrouped, kPlain, kWinograd };

inline constexpr int kConvKindCount = 6;

using ConvExtent = Extent;

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

/// Without depth: the only plane of the kernel sees the only one of the input, not one of the padding before it.
constexpr bool is_flat(const ConvShape& s) { return s.in.depth == 1 && s.out.depth == 1 && s.kernel.depth == 1 && s.pad.depth == 0; }

struct ConvArgs {
  ConvShape shape;
  ConvKind kind = ConvKind::kDirect;
  const float* input = nullptr;
  const float* weights = nullptr;   // packed
  const float* bias = nullptr;      // out_channels, zero-padded to a multiple of c; null: none
  const float* residual = nullptr;  // null: none. May be output itself
  float* output = nullptr;
  void* workspace = nullptr;        // workspace_bytes, shared by all tasks
  ActivationArgs activation;
};

/// How weights are packed. packed_bytes, pack_tasks and pack see nothing else, so within a kernel set equal packings of equal weights are
/// equal bytes.
struct ConvPacking {
  ConvKind kind = ConvKind::kDirect;
  int64_t groups = 1;
  int64_t in_channels = 1, out_channels = 1;  // of a group
  int64_t taps = 1;                           // of the kernel
  int64_t planes = 1;                         // of the kernel: its depth where planes are packed in turn (all but kPlain)
  int64_t block_groups = 1;  // parts of a group's output blocks, packed as one; of kWinograd 0: weights that are transformed when they are used

  friend bool operator==(const ConvPacking&, const ConvPacking&) = default;
};

struct ConvKernels {
  /// `exact`: only kinds that sum the products themselves.
  ConvKind (*choose)(const ConvShape& shape, bool exact) noexcept;

  /// What run() reads for this shape and kind.
  ConvPacking (*packing)(const ConvShape& shape, ConvKind kind) noexcept;
  /// Bytes of the packed weights, a multiple of 256.
  int64_t (*packed_bytes)(const ConvPacking& packing) noexcept;
  int64_t (*pack_tasks)(const ConvPacking& packing) noexcept;
  /// Packs weights in ONNX order; `packed` is 256-byte aligned for speed. All of packed_bytes is written.
  void (*pack)(const ConvPacking& packing, const float* weights, float* packed, int64_t task_begin, int64_t task_end) noexcept;

  /// Memory for all tasks of a call, 256-byte aligned; mostly 0. All prepare tasks, which fill it from the input, come before the
  /// first task of run, and cut as it does.
  int64_t (*workspace_bytes)(const ConvArgs& args) noexcept;
  int64_t (*prepare_tasks)(const ConvArgs& args) noexcept;
  void (*prepare)(const ConvArgs& args, int64_t task_begin, int64_t task_end) noexcept;

  int64_t (*tasks)(const ConvArgs& args) noexcept;
  /// Tasks that a call should have at least: with fewer, what they share is read or computed too often.
  int64_t (*grain)(const ConvArgs& args) noexcept;
  /// Scratch of one thread, 256-byte aligned, a multiple of 256 bytes. Contents are undefined before and after.
  int64_t (*scratch_bytes)(const ConvArgs& args) noexcept;
  void (*run)(const ConvArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;
};

}  // namespace svengine::kernels
