// Cumulative sums: a recurrence along n, independent columns beside each other, which the compiler vectorises. A line alone waits for every
// addition. So it goes in blocks, whose sums from their own beginning do not wait for those before; but not of doubles, of which such a sum may
// overflow where those from the line's beginning do not. Of those four lines go side by side.
#include "engine/kernels/sve/reduce/shape.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int64_t kColumns = 64;

TaskPartition cumulative_cut(const CumSumArgs& args) {
  return TaskPartition(args.outer * ceil_div(args.inner, kColumns), args.n * smaller(args.inner, kColumns));
}

// float is added up in double; integers wrap.
template <class T>
struct Sum;
template <>
struct Sum<float> {
  using Type = double;
};
template <>
struct Sum<double> {
  using Type = double;
};
template <>
struct Sum<int32_t> {
  using Type = uint32_t;
};
template <>
struct Sum<int64_t> {
  using Type = uint64_t;
};

constexpr int kLineBlock = 8;
template <class T>
constexpr bool kIsDouble = __is_same(T, double);
template <class T>
constexpr int kLinesTogether = kIsDouble<T> ? 4 : 1;

// kLines lines, `line` elements apart, whose elements are `step` apart, and come last to first where that is negative.
template <class T, int kLines>
void cumulative_lines(const T* x, T* y, int64_t n, int64_t step, int64_t line, bool exclusive) {
  using S = typename Sum<T>::Type;
  S before[kLines] = {};
  int64_t k = 0;
  if constexpr (!kIsDouble<T>)
    for (; k + kLineBlock <= n; k += kLineBlock, x += kLineBlock * step, y += kLineBlock * step) {
      S sum[kLineBlock + 1] = {};  // of the first so many
      SVENGINE_UNROLL
      for (int i = 0; i < kLineBlock; ++i) sum[i + 1] = sum[i] + S(x[i * step]);
      SVENGINE_UNROLL
      for (int i = 0; i < kLineBlock; ++i) y[i * step] = T(before[0] + (exclusive ? sum[i] : sum[i + 1]));
      before[0] += sum[kLineBlock];
    }
  for (; k < n; ++k, x += step, y += step) {
    SVENGINE_UNROLL
    for (int r = 0; r < kLines; ++r) {
      const S next = before[r] + S(x[r * line]);
      y[r * line] = T(exclusive ? before[r] : next);
      before[r] = next;
    }
  }
}

template <class T>
void cumulative_lines(const CumSumArgs& args, int64_t begin, int64_t end) {
  const int64_t step = args.reverse ? -1 : 1, first = args.reverse ? args.n - 1 : 0;
  for (int64_t line = begin; line < end;) {
    const T* x = static_cast<const T*>(args.x) + line * args.n + first;
    T* y = static_cast<T*>(args.y) + line * args.n + first;
    const int64_t lines = end - line >= kLinesTogether<T> ? kLinesTogether<T> : 1;
    if (lines > 1)
      cumulative_lines<T, kLinesTogether<T>>(x, y, args.n, step, args.n, args.exclusive);
    else
      cumulative_lines<T, 1>(x, y, args.n, step, args.n, args.exclusive);
    line += lines;
  }
}

template <class T, bool kExclusive>
void cumulative_columns(const CumSumArgs& args, int64_t start, int64_t columns) {
  using S = typename Sum<T>::Type;
  S sum[kColumns] = {};
  for (int64_t k = 0; k < args.n; ++k) {
    const int64_t at = start + (args.reverse ? args.n - 1 - k : k) * args.inner;
    const T* x = static_cast<const T*>(args.x) + at;
    T* y = static_cast<T*>(args.y) + at;
    for (int64_t c = 0; c < columns; ++c) {
      const S next = sum[c] + S(x[c]);
      y[c] = T(kExclusive ? sum[c] : next);
      sum[c] = next;
    }
  }
}

template <class T>
void cumulative_items(const CumSumArgs& args, int64_t begin, int64_t end) {
  if (args.inner == 1) return cumulative_lines<T>(args, begin, end);
  const int64_t column_chunks = ceil_div(args.inner, kColumns);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t c = item % column_chunks * kColumns, start = item / column_chunks * args.n * args.inner + c;
    const int64_t columns = smaller(kColumns, args.inner - c);
    if (args.exclusive)
      cumulative_columns<T, true>(args, start, columns);
    else
      cumulative_columns<T, false>(args, start, columns);
  }
}

}  // namespace

int64_t cumulative_sum_tasks(const CumSumArgs& args) noexcept { return cumulative_cut(args).tasks(); }

void cumulative_sum_run(const CumSumArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = cumulative_cut(args);
  const int64_t first = partition.begin(begin), last = partition.begin(end);
  switch (args.type) {
    case DType::f32:
      return cumulative_items<float>(args, first, last);
    case DType::f64:
      return cumulative_items<double>(args, first, last);
    case DType::i32:
      return cumulative_items<int32_t>(args, first, last);
    case DType::i64:
      return cumulative_items<int64_t>(args, first, last);
    default:
      return;  // contract: reduce.h
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
