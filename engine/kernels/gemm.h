// Packed matrix products of floats or doubles with an epilogue, batched over two dimensions.
//
//   C[o][i] = activation(alpha * A[o][i] * B[o][i] + bias_scale * bias + residual_scale * residual[o][i])
//
// for o < batch.outer, i < batch.inner; A is [m, k], B is [k, n], C and residual are [m, n]. Both operands are packed
// beforehand: B (usually weights) into panels of `panel_columns` columns, A into panels of at most `panel_rows` rows.
//
//   packed B: [ceil(n / panel_columns)][k][panel_columns]       columns beyond n are zero
//   packed A: [panels][k][rows of this panel], panels = ceil(m / panel_rows); rows are spread evenly, the first m %
//   panels
//             panels hold one more than the others. Nothing is padded; for m = 1 the packed layout is the row itself, so
//             a contiguous row needs no packing.
//
// Work is cut by shape alone. Every pair of `x_tasks(args)` and `x(args, begin, end)` computes the tasks [begin, end);
// tasks are small and independent, neighbours share operands, so give every thread one contiguous range. Results are
// bitwise the same however the range is cut. All functions are thread-safe, allocate nothing and check nothing: sizes
// must be positive (k may be 0: the sum is then 0; m, n or a batch of 0 gives 0 tasks), nothing may overlap except as
// said. All strides and leading dimensions count elements; a batch stride of 0 shares that operand.
#pragma once
#include <cstdint>

#include "engine/kernels/activation.h"
#include "engine/kernels/gemm_chain.h"
#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

struct GemmBatch {
  int64_t outer = 1;
  int64_t inner = 1;
};

/// Offset between matrices of neighbouring batch indices: matrix [o][i] starts at o * outer + i * inner.
struct GemmStride {
  int64_t outer = 0;
  int64_t inner = 0;
};

/// Work on one operand is cut into pieces this deep. A multiple of every machine's lanes: a piece of a panel is some 10 KiB.
inline constexpr int64_t kGemmPackDepth = 128;

/// One operand to pack. `extent` is m for A and n for B, `depth` is k.
template <class T>
struct GemmPackArgsOf {
  const T* source = nullptr;
  int64_t ld = 0;            // of the source
  bool depth_major = false;  // false: source[x * ld + d]; true: source[d * ld + x]
  int64_t extent = 0;
  int64_t depth = 0;
  T* packed = nullptr;  // 256-byte aligned for speed
  GemmBatch batch;
  GemmStride source_stride;
  GemmStride packed_stride;  // multiples of packed_x_bytes / sizeof(T)
  /// Only for depth_major and a batch of 1: [ceil(depth / kGemmPackDepth)][extent], the sums of what is packed over each piece of the
  /// depth; null: not wanted.
  T* sums = nullptr;
};

enum class GemmBias : int32_t {
  kNone,
  kColumn,  // bias[n], one for each column
  kRow,     // bias[m], one for each row
  kOne,     // bias[1]
};

template <class T>
struct GemmArgsOf {
  int64_t m = 0, n = 0, k = 0;
  GemmBatch batch;
  const T* a = nullptr;  // packed
  GemmStride a_stride;
  const T* b = nullptr;  // packed
  GemmStride b_stride;
  T* c = nullptr;
  int64_t ldc = 0;
  GemmStride c_stride;  // not 0 where the batch is more than 1
  float alpha = 1;

  GemmBias bias_kind = GemmBias::kNone;
  const T* bias = nullptr;
  GemmStride bias_stride;
  float bias_scale = 1;

  const T* residual = nullptr;  // null: none. May be c itself (same ld and strides): C = ... + residual_scale * C
  int64_t ld_residual = 0;
  GemmStride residual_stride;
  float residual_scale = 1;

  ActivationArgs activation;
};

/// A product of few rows, at most panel_rows of the kernel set: B is read where it lies, for packing it would cost more than multiplying.
template <class T>
struct GemmRowsArgsOf {
  GemmArgsOf<T> product;     // a is packed, or rows where b is transposed; b as it lies
  int64_t ldb = 0;           // b[d * ldb + column], or b[column * ldb + d] when transposed
  bool b_transposed = false;
  int64_t lda = 0;           // a[row * lda + d], when b is transposed
};

template <class T>
struct GemmKernelsOf {
  int panel_rows;
  int panel_columns;

  /// Bytes of one packed matrix, a multiple of 256.
  int64_t (*packed_a_bytes)(int64_t m, int64_t k) noexcept;
  int64_t (*packed_b_bytes)(int64_t k, int64_t n) noexcept;

  int64_t (*pack_a_tasks)(const GemmPackArgsOf<T>& args) noexcept;
  void (*pack_a)(const GemmPackArgsOf<T>& args, int64_t task_begin, int64_t task_end) noexcept;

  int64_t (*pack_b_tasks)(const GemmPackArgsOf<T>& args) noexcept;
  void (*pack_b)(const GemmPackArgsOf<T>& args, int64_t task_begin, int64_t task_end) noexcept;

  int64_t (*gemm_tasks)(const GemmArgsOf<T>& args) noexcept;
  /// Scratch of one thread, 256-byte aligned; 0 when none is needed. Contents are undefined before and after.
  int64_t (*gemm_scratch_bytes)(const GemmArgsOf<T>& args) noexcept;
  void (*gemm)(const GemmArgsOf<T>& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;

  TaskKernel<GemmRowsArgsOf<T>> rows;

  TaskKernel<DenseChainArgsOf<T>> chain;
};

using GemmPackArgs = GemmPackArgsOf<float>;
using GemmArgs = GemmArgsOf<float>;
using GemmKernels = GemmKernelsOf<float>;

}  // namespace svengine::kernels
