// Operands "packed" for a library that packs them itself: A by rows, B by columns, which is gemm.h's layout for panels of one.
#pragma once
#include <algorithm>

#include "engine/base/round.h"
#include "engine/kernels/gemm.h"

namespace svengine::kernels::openblas {

inline constexpr int64_t kPackRows = 16;  // of a task

template <class T>
int64_t packed_a_bytes(int64_t m, int64_t k) noexcept {
  return round_up(m * k * int64_t(sizeof(T)), int64_t{256});
}
template <class T>
int64_t packed_b_bytes(int64_t k, int64_t n) noexcept {
  return packed_a_bytes<T>(n, k);
}

template <class T>
int64_t pack_tasks(const GemmPackArgsOf<T>& args) noexcept {
  return args.batch.outer * args.batch.inner * ceil_div(args.extent, kPackRows);
}

/// Rows [begin, end) of the extent: the packed operand is [extent][depth].
template <class T>
void pack_rows(const GemmPackArgsOf<T>& args, const T* source, T* packed, int64_t begin, int64_t end) {
  if (!args.depth_major) {
    for (int64_t x = begin; x < end; ++x) std::copy_n(source + x * args.ld, args.depth, packed + x * args.depth);
    return;
  }
  for (int64_t d = 0; d < args.depth; ++d)
    for (int64_t x = begin; x < end; ++x) packed[x * args.depth + d] = source[d * args.ld + x];
  if (!args.sums) return;
  for (int64_t piece = 0; piece < ceil_div(args.depth, kGemmPackDepth); ++piece)
    for (int64_t x = begin; x < end; ++x) {
      double sum = 0;
      for (int64_t d = piece * kGemmPackDepth; d < std::min(args.depth, (piece + 1) * kGemmPackDepth); ++d) sum += source[d * args.ld + x];
      args.sums[piece * args.extent + x] = static_cast<T>(sum);
    }
}

template <class T>
void pack(const GemmPackArgsOf<T>& args, int64_t begin, int64_t end) noexcept {
  const int64_t each = ceil_div(args.extent, kPackRows);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t outer = task / each / args.batch.inner, inner = task / each % args.batch.inner, first = task % each * kPackRows;
    pack_rows(args, args.source + outer * args.source_stride.outer + inner * args.source_stride.inner,
              args.packed + outer * args.packed_stride.outer + inner * args.packed_stride.inner, first,
              std::min(args.extent, first + kPackRows));
  }
}

}  // namespace svengine::kernels::openblas
