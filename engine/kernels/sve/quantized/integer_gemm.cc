// Products of whole numbers of 32 and 64 bits. A task is a panel of columns by some rows; panels of B are packed in scratch, or, for few
// rows, read where they lie.
#include "engine/kernels/integer_gemm.h"
#include "engine/kernels/sve/quantized/element.h"
#include "engine/kernels/sve/quantized/shape.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int kTall = kMachine.vector_registers == 32 ? 12 : 4;  // rows summed in registers with two vectors of columns, as in shape.h
constexpr int kWide = kMachine.vector_registers == 32 ? 8 : 4;   // vectors of columns of a single row
constexpr int64_t kRowsOfTask = 96;                              // over which a packed panel is used
constexpr int64_t kPanelDepth = 128;                             // of B packed at once: 16 KiB at most, within L1
constexpr int64_t kFewRows = 3;                                  // not worth packing

template <class T>
struct Lane;
template <>
struct Lane<int32_t> {
  typedef vi Vector;
  static constexpr int64_t kCount = kLanes;
  static inline __attribute__((always_inline)) vb every() { return svptrue_b32(); }
  static inline __attribute__((always_inline)) vb below(int64_t i, int64_t n) { return svwhilelt_b32(i, n); }
  static inline __attribute__((always_inline)) vi dup(int32_t x) { return svdup_s32(x); }
};
template <>
struct Lane<int64_t> {
  typedef vl Vector;
  static constexpr int64_t kCount = kLanes / 2;
  static inline __attribute__((always_inline)) vb every() { return svptrue_b64(); }
  static inline __attribute__((always_inline)) vb below(int64_t i, int64_t n) { return svwhilelt_b64(i, n); }
  static inline __attribute__((always_inline)) vl dup(int64_t x) { return svdup_s64(x); }
};

bool has_few_rows(const IntegerGemmArgs& args) { return args.m <= kFewRows && args.b_column == 1; }
template <class T>
int64_t panel_columns(const IntegerGemmArgs& args) {
  return Lane<T>::kCount * (has_few_rows(args) ? kWide : 2);
}

/// kRows rows of C by kVectors vectors of columns, `columns` of which there are, over `depth` rows of B that lie `step` apart.
template <class T, int kRows, int kVectors>
void add_tile(const IntegerGemmArgs& args, const T* a, const T* b, int64_t step, int64_t depth, int64_t columns, bool first, T* c) {
  typedef typename Lane<T>::Vector V;
  const vb every = Lane<T>::every();
  vb some[kVectors];
  V sum[kRows][kVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v) some[v] = Lane<T>::below(v * Lane<T>::kCount, columns);
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v)
      sum[r][v] = first ? Lane<T>::dup(0) : V(svld1(some[v], c + r * args.ldc + v * Lane<T>::kCount));
  }
  for (int64_t d = 0; d < depth; ++d, a += args.a_depth, b += step) {
    V column[kVectors];
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) column[v] = svld1(kRows == 1 ? some[v] : every, b + v * Lane<T>::kCount);
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const V row = Lane<T>::dup(a[r * args.a_row]);
      SVENGINE_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[r][v] = svadd_x(every, sum[r][v], V(svmul_x(every, column[v], row)));
    }
  }
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) svst1(some[v], c + r * args.ldc + v * Lane<T>::kCount, sum[r][v]);
  }
}

/// Columns beyond the last are 0.
template <class T>
void pack_columns(const IntegerGemmArgs& args, const T* b, int64_t depth, int64_t columns, T* panel) {
  constexpr int64_t kColumns = 2 * Lane<T>::kCount;
  for (int64_t d = 0; d < depth; ++d, panel += kColumns, b += args.b_depth) {
    if (args.b_column == 1 && columns == kColumns) {
      const vb every = Lane<T>::every();
      svst1(every, panel, svld1(every, b)), svst1(every, panel + Lane<T>::kCount, svld1(every, b + Lane<T>::kCount));
      continue;
    }
    for (int64_t c = 0; c < kColumns; ++c) panel[c] = c < columns ? b[c * args.b_column] : T(0);
  }
}

template <class T>
void run_packed(const IntegerGemmArgs& args, int64_t row, int64_t column, T* panel) {
  constexpr int64_t kColumns = 2 * Lane<T>::kCount;
  constexpr int kSome = 4;
  const int64_t end = quant_smaller(row + kRowsOfTask, args.m), columns = quant_smaller(args.n - column, kColumns);
  for (int64_t d = 0; d == 0 || d < args.k; d += kPanelDepth) {
    const int64_t depth = quant_smaller(args.k - d, kPanelDepth);
    pack_columns(args, static_cast<const T*>(args.b) + d * args.b_depth + column * args.b_column, depth, columns, panel);
    const T* a = static_cast<const T*>(args.a) + d * args.a_depth;
    int64_t r = row;
    const auto rows = [&]<int kRows>() __attribute__((always_inline)) {
      for (; r + kRows <= end; r += kRows)
        add_tile<T, kRows, 2>(args, a + r * args.a_row, panel, kColumns, depth, columns, d == 0, static_cast<T*>(args.c) + r * args.ldc + column);
    };
    rows.template operator()<kTall>();
    if constexpr (kTall > kSome) rows.template operator()<kSome>();
    rows.template operator()<1>();
  }
}

template <class T>
void run_tasks(const IntegerGemmArgs& args, int64_t begin, int64_t end, void* scratch) {
  const int64_t panel = panel_columns<T>(args), across = quant_ceil_div(args.n, panel);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t column = task % across * panel, row = task / across * kRowsOfTask;
    if (!has_few_rows(args)) {
      run_packed<T>(args, row, column, static_cast<T*>(scratch));
      continue;
    }
    for (int64_t r = 0; r < args.m; ++r)
      add_tile<T, 1, kWide>(args, static_cast<const T*>(args.a) + r * args.a_row, static_cast<const T*>(args.b) + column, args.b_depth, args.k,
                            quant_smaller(args.n - column, panel), true, static_cast<T*>(args.c) + r * args.ldc + column);
  }
}

}  // namespace

int64_t integer_gemm_tasks(const IntegerGemmArgs& args) noexcept {
  return quant_ceil_div(args.n, args.element_bytes == 8 ? panel_columns<int64_t>(args) : panel_columns<int32_t>(args)) *
         quant_ceil_div(args.m, kRowsOfTask);
}

int64_t integer_gemm_scratch_bytes(const IntegerGemmArgs& args) noexcept {
  return has_few_rows(args) ? 0 : kPanelDepth * 2 * int64_t{sizeof(vi)};
}

void integer_gemm_run(const IntegerGemmArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept {
  args.element_bytes == 8 ? run_tasks<int64_t>(args, task_begin, task_end, scratch) : run_tasks<int32_t>(args, task_begin, task_end, scratch);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
