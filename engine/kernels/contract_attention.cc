#include "engine/kernels/contract_attention.h"

#include "engine/kernels/contract_memory.h"

namespace svengine::kernels {
namespace {

const char* size_violation(const AttentionArgs& args) {
  if (args.batch < 1 || args.heads < 1) return "attention: batch or heads is not positive";
  if (args.queries < 0 || args.keys < 0 || args.size < 0 || args.value_size < 0) return "attention: a size is negative";
  if (!is_aligned(args.packed_k, 256) || !is_aligned(args.packed_v, 256))
    return "attention: packed_k or packed_v is not 256-byte aligned";
  return nullptr;
}

/// From the first to the last element of [batch, heads, rows, columns]; no memory where a stride is negative.
Memory span(const AttentionArgs& args, const float* at, const AttentionStride& s, int64_t rows, int64_t columns) {
  if (rows < 1 || columns < 1 || s.batch < 0 || s.head < 0 || s.row < 0) return {};
  return floats(at, (args.batch - 1) * s.batch + (args.heads - 1) * s.head + (rows - 1) * s.row + columns);
}

}  // namespace

const char* pack_violation(const AttentionArgs& args) noexcept {
  if (const char* broken = size_violation(args)) return broken;
  if (args.keys > 0 && ((!args.k && args.size > 0) || (!args.v && args.value_size > 0))) return "attention: k or v is null";
  return nullptr;
}

const char* violation(const AttentionArgs& args) noexcept {
  if (const char* broken = pack_violation(args)) return broken;
  if (!args.y || (!args.q && args.size > 0)) return "attention: q or y is null";
  const AttentionStride& s = args.y_stride;
  if ((args.queries > 1 && s.row < args.value_size) || (args.heads > 1 && s.head < args.value_size) ||
      (args.batch > 1 && s.batch < args.value_size))
    return "attention: rows of y overlap";
  const Memory y = span(args, args.y, s, args.queries, args.value_size);
  const int64_t k_rows = args.k_transposed ? args.size : args.keys, k_columns = args.k_transposed ? args.keys : args.size;
  if (overlap(y, span(args, args.q, args.q_stride, args.queries, args.size))) return "attention: y overlaps q";
  if (overlap(y, span(args, args.k, args.k_stride, k_rows, k_columns))) return "attention: y overlaps k";
  if (overlap(y, span(args, args.v, args.v_stride, args.keys, args.value_size))) return "attention: y overlaps v";
  if (overlap(y, span(args, args.mask, args.mask_stride, args.queries, args.keys))) return "attention: y overlaps mask";
  return nullptr;
}

}  // namespace svengine::kernels
