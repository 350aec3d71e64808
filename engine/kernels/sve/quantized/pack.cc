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

/// target[d / 4][column][d % 4] of one column whose depth lies in a row, four bytes at a time.
void pack_column(const uint8_t* source, int64_t k, uint8_t flip, int8_t* target) {
  int64_t d = 0;
  for (; d + 4 <= k; d += 4, target += kQuantColumns * 4) {
    uint32_t word;
    __builtin_memcpy(&word, source + d, 4);
    word ^= flip * 0x01010101u;
    __builtin_memcpy(target, &word, 4);
  }
  for (int64_t i = 0; d + i < k; ++i) target[i] = static_cast<int8_t>(source[d + i] ^ flip);
}

void sum_panel(const int8_t* panel, int64_t groups, vi* sums) {
  const svbool_t all = svptrue_b8();
  const vu ones = svdup_u32(0x01010101u);
  for (int64_t d = 0; d < groups; ++d) {
    SVENGINE_UNROLL
    for (int v = 0; v < kQuantVectors; ++v) sums[v] = dot_bytes(sums[v], ones, svld1(all, panel + (d * kQuantVectors + v) * kVectorBytes));
  }
}

/// Behind the panel's groups: what sums of its columns and their zero points are.
void finish_panel(const QuantizedPackArgs& args, int64_t index, const vi* sums) {
  const int64_t first = index * kQuantColumns, columns = quant_smaller(args.n - first, kQuantColumns);
  int8_t* panel = static_cast<int8_t*>(args.packed) + index * panel_bytes(args.k);
  int32_t* tail = reinterpret_cast<int32_t*>(panel + depth_groups(args.k) * kQuantColumns * 4);
  const vb words = svptrue_b32();
  SVENGINE_UNROLL
  for (int v = 0; v < kQuantVectors; ++v) svst1(words, tail + v * kLanes, sums[v]), svst1(words, tail + kQuantColumns + v * kLanes, svdup_s32(0));
  for (int64_t c = 0; c < columns; ++c) {
    const int32_t zero = zero_of(args, first + c);
    tail[c] = static_cast<int32_t>(static_cast<uint32_t>(tail[c]) - static_cast<uint32_t>(args.k) * static_cast<uint32_t>(zero));
    tail[kQuantColumns + c] = zero;
  }
}

void pack_columns(const QuantizedPackArgs& args, int64_t index) {
  const int64_t groups = depth_groups(args.k), first = index * kQuantColumns, columns = quant_smaller(args.n - first, kQuantColumns);
  int8_t* panel = static_cast<int8_t*>(args.packed) + index * panel_bytes(args.k);
  const svbool_t all = svptrue_b8();
  for (int64_t at = 0; at < panel_bytes(args.k); at += kVectorBytes) svst1(all, panel + at, svdup_s8(0));
  const uint8_t* source = static_cast<const uint8_t*>(args.source);
  for (int64_t c = 0; c < columns; ++c) pack_column(source + (first + c) * args.ld, args.k, args.is_signed ? 0 : 0x80, panel + c * 4);
  vi sums[kQuantVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kQuantVectors; ++v) sums[v] = svdup_s32(0);
  sum_panel(panel, groups, sums);
  finish_panel(args, index, sums);
}

/// The panel and, where `panels` is 2, the one behind it, of a row-major source: a vector has a byte of every column of both.
void pack_rows(const QuantizedPackArgs& args, int64_t index, int64_t panels) {
  static_assert(2 * kQuantColumns == kVectorBytes && kQuantVectors == 2);
  const int64_t first = index * kQuantColumns, columns = quant_smaller(args.n - first, panels * kQuantColumns);
  const svbool_t all = svptrue_b8(), some = columns == kVectorBytes ? all : svwhilelt_b8(int64_t{0}, columns);
  const vsbyte flip = svsel(some, svdup_s8(args.is_signed ? 0 : -128), svdup_s8(0));
  const int8_t* source = static_cast<const int8_t*>(args.source) + first;
  int8_t* panel = static_cast<int8_t*>(args.packed) + index * panel_bytes(args.k);
  const vu ones = svdup_u32(0x01010101u);
  vi sums[4];
  SVENGINE_UNROLL
  for (int v = 0; v < 4; ++v) sums[v] = svdup_s32(0);
  for (int64_t d = 0; d < args.k; d += 4, panel += kQuantColumns * 4) {
    vsbyte row[4];
    SVENGINE_UNROLL
    for (int r = 0; r < 4; ++r) {
      row[r] = svdup_s8(0);
      if (d + r < args.k) row[r] = sveor_x(all, vsbyte(svld1(some, source + (d + r) * args.ld)), flip);
    }
    vu words[4];
    sve_bytes::quads(row[0], row[1], row[2], row[3], words);
    sve_bytes::natural_order(words);
    SVENGINE_UNROLL
    for (int v = 0; v < 4; ++v) {
      const vsbyte bytes = svreinterpret_s8(words[v]);
      sums[v] = dot_bytes(sums[v], ones, bytes);
      if (v < 2 || panels == 2) svst1(all, panel + v / 2 * panel_bytes(args.k) + v % 2 * kVectorBytes, bytes);
    }
  }
  for (int64_t p = 0; p < panels; ++p) finish_panel(args, index + p, sums + 2 * p);
}

}  // namespace

int64_t quantized_packed_bytes(int64_t k, int64_t n) noexcept { return quant_ceil_div(quant_column_panels(n) * panel_bytes(k), 256) * 256; }

int64_t quantized_pack_tasks(const QuantizedPackArgs& args) noexcept { return quant_column_panels(args.n); }

void quantized_pack(const QuantizedPackArgs& args, int64_t task_begin, int64_t task_end) noexcept {
  for (int64_t task = task_begin; task < task_end;) {
    const int64_t panels = args.column_major ? 1 : quant_smaller(task_end - task, 2);
    args.column_major ? pack_columns(args, task) : pack_rows(args, task, panels);
    task += panels;
  }
  // What lies between the last panel and the end of the buffer, so that equal operands are equal bytes.
  if (task_end != quantized_pack_tasks(args)) return;
  int8_t* packed = static_cast<int8_t*>(args.packed);
  for (int64_t at = task_end * panel_bytes(args.k); at < quantized_packed_bytes(args.k, args.n); ++at) packed[at] = 0;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
