// Sums of bytes: along rows by products with ones, of rows below each other column by column.
#include "engine/kernels/sve/quantized/element.h"
#include "engine/kernels/sve/quantized/shape.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int64_t kTaskBytes = 32768;     // of rows that a task sums up
constexpr int64_t kPiece = 1 << 20;       // elements whose sum fits 32 bits, by far
constexpr int kTogether = 4;              // vectors, whose sums do not wait for each other
constexpr int64_t kColumns = kTogether * kLanes;

int64_t rows_of_task(const ByteSumArgs& args) {
  return quant_larger(kTaskBytes / quant_larger(args.n, 1), 1);
}
int64_t column_blocks(const ByteSumArgs& args) { return quant_ceil_div(args.inner, kColumns); }

/// Unsigned bytes less 128 are signed ones; so are the lanes behind the end, which are read as 0.
template <bool kSigned>
int64_t sum_of_row(const uint8_t* x, int64_t n) {
  const svbool_t every = svptrue_b8();
  const vu ones = svdup_u32(0x01010101u);
  int64_t total = 0;
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const int64_t end = quant_smaller(begin + kPiece, n);
    vi sums[kTogether];
    SVENGINE_UNROLL
    for (int u = 0; u < kTogether; ++u) sums[u] = svdup_s32(0);
    int64_t i = begin;
    const auto add = [&](svbool_t some, int u) __attribute__((always_inline)) {
      const svint8_t bytes = svld1(some, reinterpret_cast<const int8_t*>(x) + i + u * kVectorBytes);
      sums[u] = dot_bytes(sums[u], ones, vsbyte(kSigned ? bytes : sveor_x(every, bytes, svdup_s8(-128))));
    };
    for (; i + kTogether * kVectorBytes <= end; i += kTogether * kVectorBytes) {
      SVENGINE_UNROLL
      for (int u = 0; u < kTogether; ++u) add(every, u);
    }
    for (; i + kVectorBytes <= end; i += kVectorBytes) add(every, 0);
    if (i < end) add(svwhilelt_b8(i, end), 0), i += kVectorBytes;
    const vb all = svptrue_b32();
    const vi both = svadd_x(all, vi(svadd_x(all, sums[0], sums[1])), vi(svadd_x(all, sums[2], sums[3])));
    total += svaddv(all, both) + (kSigned ? 0 : 128 * (i - begin));
  }
  return total;
}

/// Columns [0, columns) of n rows, at most kColumns.
template <bool kSigned>
void sum_columns(const uint8_t* x, int64_t n, int64_t step, int64_t columns, int64_t* sums) {
  vb some[kTogether];
  SVENGINE_UNROLL
  for (int u = 0; u < kTogether; ++u) some[u] = svwhilelt_b32(int64_t{u} * kLanes, columns);
  for (int64_t c = 0; c < columns; ++c) sums[c] = 0;
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const int64_t end = quant_smaller(begin + kPiece, n);
    vi sum[kTogether];
    SVENGINE_UNROLL
    for (int u = 0; u < kTogether; ++u) sum[u] = svdup_s32(0);
    for (int64_t j = begin; j < end; ++j) {
      SVENGINE_UNROLL
      for (int u = 0; u < kTogether; ++u) {
        const uint8_t* from = x + j * step + u * kLanes;
        const vi more = kSigned ? vi(svld1sb_s32(some[u], reinterpret_cast<const int8_t*>(from))) : vi(svld1ub_s32(some[u], from));
        sum[u] = svadd_x(svptrue_b32(), sum[u], more);
      }
    }
    int32_t lanes[kColumns];
    SVENGINE_UNROLL
    for (int u = 0; u < kTogether; ++u) svst1(svptrue_b32(), lanes + u * kLanes, sum[u]);
    for (int64_t c = 0; c < columns; ++c) sums[c] += lanes[c];
  }
}

template <bool kSigned>
void sum_range(const ByteSumArgs& args, int64_t task_begin, int64_t task_end) {
  if (args.inner == 1) {
    const int64_t each = rows_of_task(args), last = quant_smaller(task_end * each, args.outer);
    for (int64_t row = task_begin * each; row < last; ++row) args.sums[row] = sum_of_row<kSigned>(args.x + row * args.n, args.n);
    return;
  }
  const int64_t blocks = column_blocks(args);
  for (int64_t task = task_begin; task < task_end; ++task) {
    const int64_t matrix = task / blocks, column = task % blocks * kColumns;
    sum_columns<kSigned>(args.x + matrix * args.n * args.inner + column, args.n, args.inner, quant_smaller(args.inner - column, kColumns),
                         args.sums + matrix * args.inner + column);
  }
}

}  // namespace

int64_t byte_sum_tasks(const ByteSumArgs& args) noexcept {
  return args.inner == 1 ? quant_ceil_div(args.outer, rows_of_task(args)) : args.outer * column_blocks(args);
}

void byte_sum_run(const ByteSumArgs& args, int64_t task_begin, int64_t task_end, void*) noexcept {
  args.is_signed ? sum_range<true>(args, task_begin, task_end) : sum_range<false>(args, task_begin, task_end);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
