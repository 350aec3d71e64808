// Scaled dot-product attention: for every batch and head
//
//   y = softmax(scale * q k' + mask) v,      softmax over the keys
//
// q is [queries, size], k [keys, size], v [keys, value_size], y [queries, value_size]; mask broadcasts to
// [batch, heads, queries, keys]. k and v are packed once for all queries (`pack`), then every task of `attention` does one
// head's block of `block_queries` queries. A block's scores live in scratch, never written out. Nothing is packed for few queries.
//
// A row of scores that holds NaN or +infinity, or nothing but -infinity, gives NaN in that row of y; scores of -infinity
// beside finite ones weigh 0. Sums over keys are compensated, so that accuracy does not depend on their number. With no keys
// y is 0. All strides count floats; along size and value_size elements are contiguous, but for k where `k_transposed`.
// Nothing may overlap.
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

/// From one batch, head, query or key to the next.
struct AttentionStride {
  int64_t batch = 0, head = 0, row = 0;
};

struct AttentionArgs {
  int64_t batch = 1, heads = 1, queries = 0, keys = 0, size = 0, value_size = 0;
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  float* y = nullptr;
  AttentionStride q_stride, k_stride, v_stride, y_stride;
  bool k_transposed = false;  // k is stored [size, keys]: k_stride.row is from one element of size to the next
  float scale = 1;
  const float* mask = nullptr;  // null: none. `keys` contiguous values for every query; strides of 0 broadcast
  AttentionStride mask_stride;
  float* packed_k = nullptr;  // packed_k_bytes(args) and packed_v_bytes(args), 256-byte aligned
  float* packed_v = nullptr;
};

struct AttentionKernels {
  int block_queries;
  int64_t (*packed_k_bytes)(const AttentionArgs& args) noexcept;
  int64_t (*packed_v_bytes)(const AttentionArgs& args) noexcept;
  /// packed_k and packed_v of all heads; reads nothing else than k and v.
  TaskKernel<AttentionArgs> pack;
  TaskKernel<AttentionArgs> attention;
};

}  // namespace svengine::kernels
