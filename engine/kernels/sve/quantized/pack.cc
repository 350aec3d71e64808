// Packing of B: a task is a panel. Its bytes are shifted to int8, and summed up column by column on the way.
#include "engine/kernels/sve/quantized/pack.h"

#include "engine/kernels/sve/quantized/shape.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

/// Of column `column`, as it is after the shift.
int32_t zero_of(const QuantizedPackArgs& args, int64_t column) {
  if (!args.zero) return args.is_signed ? 0 : -128;
  const int64_t at = column * args.zero_step;
  return args.is_signed ? static_cast<const int8_t*>(args.zero)[at] : static_cast<const uint8_t*>(args.zero)[at] - 128;
}

/// target[d / 4][column][d % 4] of one column.
void pack_column(const uint8_t* source, int64_t step, int64_t k, uint8_t flip, int8_t* target) {
  for (int64_t d = 0; d < k; ++d) target[d / 4 * kQuantColumns * 4 + d % 4] = static_cast<int8_t>(source[d * step] ^ flip);
}

/// All columns of a panel of a row-major source, whose rows are read as they lie.
void pack_rows(const uint8_t* source, int64_t ld, int64_t columns, int64_t k, uint8_t flip, int8_t* target) {
  for (int64_t d = 0; d < k; ++d, source += ld) {
    int8_t* row = target + d / 4 * kQuantColumns * 4 + d % 4;
    for (int64_t c = 0; c < columns; ++c) row[c * 4] = static_cast<int8_t>(source[c] ^ flip);
  }
}

void sum_panel(const int8_t* panel, int64_t groups, vi* sums) {
  const svbool_t all = svptrue_b8();
  const vu ones = svdup_u32(0x01010101u);
  for (int64_t d = 0; d < groups; ++d) {
    SVENGINE_UNROLL
    for (int v = 0; v < kQuantVectors; ++v) sums[v] = dot_bytes(sums[v], ones, svld1(all, panel + (d * kQuantVectors + v) * kVectorBytes));
  }
}

void pack_panel(const QuantizedPackArgs& args, int64_t index) {
  const int64_t groups = depth_groups(args.k), first = index * kQuantColumns, columns = quant_smaller(args.n - first, kQuantColumns);
  int8_t* panel = static_cast<int8_t*>(args.packed) + index * panel_bytes(args.k);
  const svbool_t all = svptrue_b8();
  for (int64_t at = 0; at < panel_bytes(args.k); at += kVectorBytes) svst1(all, panel + at, svdup_s8(0));
  const uint8_t flip = args.is_signed ? 0 : 0x80;
  const uint8_t* source = static_cast<const uint8_t*>(args.source);
  if (args.column_major) {
    for (int64_t c = 0; c < columns; ++c) pack_column(source + (first + c) * args.ld, 1, args.k, flip, panel + c * 4);
  } else {
    pack_rows(source + first, args.ld, columns, args.k, flip, panel);
  }
  vi sums[kQuantVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kQuantVectors; ++v) sums[v] = svdup_s32(0);
  sum_panel(panel, groups, sums);
  int32_t* tail = reinterpret_cast<int32_t*>(panel + groups * kQuantColumns * 4);
  const vb words = svptrue_b32();
  SVENGINE_UNROLL
  for (int v = 0; v < kQuantVectors; ++v) svst1(words, tail + v * kLanes, sums[v]);
  for (int64_t c = 0; c < columns; ++c) {
    const int32_t zero = zero_of(args, first + c);
    tail[c] = static_cast<int32_t>(static_cast<uint32_t>(tail[c]) - static_cast<uint32_t>(args.k) * static_cast<uint32_t>(zero));
    tail[kQuantColumns + c] = zero;
  }
}

}  // namespace

int64_t quantized_packed_bytes(int64_t k, int64_t n) noexcept { return quant_ceil_div(quant_column_panels(n) * panel_bytes(k), 256) * 256; }

int64_t quantized_pack_tasks(const QuantizedPackArgs& args) noexcept { return quant_column_panels(args.n); }

void quantized_pack(const QuantizedPackArgs& args, int64_t task_begin, int64_t task_end) noexcept {
  for (int64_t task = task_begin; task < task_end; ++task) pack_panel(args, task);
  // What lies between the last panel and the end of the buffer, so that equal operands are equal bytes.
  if (task_end != quantized_pack_tasks(args)) return;
  int8_t* packed = static_cast<int8_t*>(args.packed);
  for (int64_t at = task_end * panel_bytes(args.k); at < quantized_packed_bytes(args.k, args.n); ++at) packed[at] = 0;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
