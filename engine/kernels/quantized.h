// Networks of 8-bit integers: matrix products, convolutions by them, depthwise convolutions, and sums and products of two values. Weights
// of fewer bits, which floats are multiplied by, have n_bits.h.
//
//   S[r][c] = sum over d < k of (A[r][d] - a_zero) * (B[d][c] - b_zero[c])  + bias[c]       in 32 bits, wrapping
//
// A and B are uint8 or int8, each its own. What becomes of S is the output's type:
//
//   kInt32    S
//   kFloat32  float(S) * (row_scale[r] * scale[c]) + shift[c], then bounded by low and high
//   kUint8, kInt8   round_half_even(bounded(float(S) * (row_scale[r] * scale[c]), low - zero, high - zero)) + zero
//
// each operation rounded to float32, none fused. Sums are exact, so results are bit-equal on all kernel sets.
//
// B (usually weights) is packed beforehand into panels of panel_columns columns, each of which holds what the zero points need to know
// of it. A is read where it lies: rows of a matrix, or the windows of a channels-last image, row r being output pixel r, and depth
// running over the window's taps and then over channels.
//
// Work is cut by shape alone: task_kernel.h. All functions are thread-safe, allocate nothing and check nothing.
#pragma once
#include <cstdint>

#include "engine/kernels/integer_gemm.h"
#include "engine/kernels/n_bits.h"
#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

enum class QuantizedOutput : int32_t { kInt32, kFloat32, kUint8, kInt8 };

/// One operand to pack: B[d][c] = source[d * ld + c], or source[c * ld + d] when column_major.
struct QuantizedPackArgs {
  const void* source = nullptr;  // bytes
  int64_t ld = 0;
  bool column_major = false;
  bool is_signed = false;
  int64_t k = 0, n = 0;
  const void* zero = nullptr;  // of the source's type; null: 0
  int64_t zero_step = 0;       // 1: one for each column
  void* packed = nullptr;      // 256-byte aligned
};

/// A sliding window over images [batch][in][pixel_bytes], of which a window sees `channels` bytes of every pixel. Three spatial
/// dimensions, the first ones 1 where there are fewer.
struct QuantizedWindow {
  int64_t pixel_bytes = 0, channels = 0;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  int64_t strides[3] = {1, 1, 1}, dilations[3] = {1, 1, 1}, pads[3] = {0, 0, 0};
};

/// What becomes of sums.
struct QuantizedEpilogue {
  QuantizedOutput output = QuantizedOutput::kInt32;
  const int32_t* bias = nullptr;     // [n], or [m, n] where bias_ld is not 0; null: 0
  int64_t bias_ld = 0;               // elements from row to row; 0: all rows have the same. Of products alone
  const float* scale = nullptr;      // [n] or [1]
  int64_t scale_step = 0;            // 1: one for each column
  const float* row_scale = nullptr;  // [m]; null: 1
  const float* shift = nullptr;      // [n]; null: 0; of kFloat32 alone
  float low = 0, high = 0;           // of the output: quantised values, or floats
  int32_t zero = 0;                  // of the output
};

struct QuantizedGemmArgs {
  int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;
  int64_t lda = 0;       // bytes from row to row; unused with a window
  bool windows = false;  // A's rows are windows: m = batch * out pixels, k = taps * channels
  QuantizedWindow window;
  bool a_signed = false;
  const void* a_zero = nullptr;  // of A's type; null: 0
  int64_t a_zero_step = 0;       // 1: one for each row; 0 with windows
  const void* b = nullptr;       // packed
  void* c = nullptr;
  int64_t ldc = 0;  // elements
  QuantizedEpilogue epilogue;
};

/// Of a channels-last image every channel by its own window:
///   S[pixel][c] = sum over taps of (x[...][c] - x_zero) * w[tap][c] + bias[c]
struct QuantizedDepthwiseArgs {
  int64_t batch = 0;
  QuantizedWindow window;  // channels = pixel_bytes
  const void* x = nullptr;
  bool x_signed = false;
  const void* x_zero = nullptr;  // null: 0
  const int32_t* w = nullptr;    // [taps + 1][channels]: weights less their zero points, and last the sums of each channel's
  const int8_t* quads = nullptr;  // the same as pack_depthwise leaves them; null: not packed, which is slower
  void* y = nullptr;             // [batch][out pixels][channels]
  QuantizedEpilogue epilogue;    // without row_scale
};

/// y[i] = bounded(round_half_even(((a[i] - a_zero) * a_scale + (b[i] - b_zero) * b_scale)) + zero, low, high), or, of a product,
///        bounded(round_half_even(((a[i] - a_zero) * (b[i] - b_zero)) * a_scale) + zero, low, high), the scales already divided by the
/// output's, and a product's in a_scale; every operation rounded to float32. All three of one type.
struct QuantizedBinaryArgs {
  int64_t count = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* y = nullptr;
  bool is_signed = false;
  int32_t a_zero = 0, b_zero = 0, zero = 0;
  float a_scale = 1, b_scale = 1;
  int32_t low = 0, high = 255;
  bool multiply = false;
  bool b_repeats = false;  // b is one element
};

/// What quantised elements are stored as.
enum class QuantizedType : int32_t { kUint8, kInt8, kUint16, kInt16, kInt32 };

/// y[i] = bounded(round_half_even(x[i] / scale) + zero): QuantizeLinear. NaN becomes the lowest.
struct QuantizeArgs {
  int64_t count = 0;
  const float* x = nullptr;
  void* y = nullptr;
  QuantizedType type = QuantizedType::kUint8;  // not kInt32
  const float* scale = nullptr;
  const void* zero = nullptr;  // of y's type; null: 0
  int64_t step = 0;            // 1: a scale and a zero point for each element
};

/// y[i] = float(x[i] - zero) * scale: DequantizeLinear. The difference is one of 32 bits, which wraps.
struct DequantizeArgs {
  int64_t count = 0;
  const void* x = nullptr;
  float* y = nullptr;
  QuantizedType type = QuantizedType::kUint8;
  const float* scale = nullptr;
  const void* zero = nullptr;  // of x's type; null: 0
  int64_t step = 0;            // 1: a scale and a zero point for each element
};

/// y[i] = table[x[i]]: any function of a byte; int8 is taken as the byte it is stored as. y may be x.
struct ByteTableArgs {
  int64_t count = 0;
  const uint8_t* x = nullptr;
  uint8_t* y = nullptr;
  const uint8_t* table = nullptr;  // [256]
};

/// sums[o][i] = the sum over j < n of x[o][j][i], exact.
struct ByteSumArgs {
  int64_t outer = 0, n = 0, inner = 1;
  const uint8_t* x = nullptr;
  bool is_signed = false;  // x is int8
  int64_t* sums = nullptr;
};

/// low[t] and high[t]: the smallest and largest of the elements that fall on task t, and 0. NaN counts as nothing.
struct QuantizedRangeArgs {
  int64_t count = 0;
  const float* x = nullptr;
  float* low = nullptr;  // [tasks]
  float* high = nullptr;
};

struct QuantizedKernels {
  int panel_columns;

  /// Of a packed B, a multiple of 256.
  int64_t (*packed_bytes)(int64_t k, int64_t n) noexcept;
  /// A task is a panel.
  int64_t (*pack_tasks)(const QuantizedPackArgs& args) noexcept;
  void (*pack)(const QuantizedPackArgs& args, int64_t task_begin, int64_t task_end) noexcept;

  TaskKernel<QuantizedGemmArgs> gemm;
  /// Of QuantizedDepthwiseArgs::quads, 256-byte aligned; 0 where a kernel set has no use for them: nothing is packed then.
  int64_t (*depthwise_packed_bytes)(const QuantizedWindow& window) noexcept;
  void (*pack_depthwise)(const QuantizedWindow& window, const int32_t* w, void* quads) noexcept;
  TaskKernel<QuantizedDepthwiseArgs> depthwise;
  TaskKernel<QuantizedBinaryArgs> binary;
  TaskKernel<QuantizeArgs> quantize;
  TaskKernel<DequantizeArgs> dequantize;
  TaskKernel<ByteTableArgs> table;
  TaskKernel<ByteSumArgs> sum;
  TaskKernel<IntegerGemmArgs> integer_gemm;
  TaskKernel<QuantizedRangeArgs> range;
  NBitsKernels n_bits;
};

}  // namespace svengine::kernels
