// Cumulative sums: a recurrence along n, independent columns beside each other, which the compiler vectorises.
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
