// Reductions of double, int32 and int64: columns in loops that the compiler vectorises, lines in plain_lines.h. Short lines go several at a
// time, for what is done once per line takes longer than their elements.
#include "engine/kernels/sve/lines_f64.h"
#include "engine/kernels/sve/reduce/plain_lines.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

// x[i] = exp(x[i])
[[gnu::noinline]] void take_exponentials(double* x, int64_t n) {
  constexpr int kVectors = 2;
  for (int64_t i = 0; i < n; i += kVectors * kWideLanes) {
    const auto p = some_lanes<kVectors>(i, n);
    store(p, x + i, vexp_f64(load(p, x + i)));
  }
}

template <ReduceOp kOp, class T>
T reduce_line(ReduceShape& shape, const T* x) {
  double shift = 0;
  if constexpr (kOp == ReduceOp::kLogSumExp) shift = finite_shift(double(line_total<ReduceOp::kMax>(shape, x, 0)));
  return finish<kOp, T>(Accumulator<kOp, T>(line_total<kTotalOf<kOp, T>>(shape, x, shift)), shift, shape.count());
}

template <ReduceOp kOp, class T>
[[gnu::noinline]] void column_totals(ReduceShape& shape, const T* x, int64_t columns, [[maybe_unused]] const double* shift,
                                     Accumulator<kOp, T>* total) {
  for (int64_t c = 0; c < columns; ++c) total[c] = identity<kOp, T>();
  shape.for_runs([&](int64_t offset) {
    for (int64_t r = 0; r < shape.run; ++r) {
      const T* from = x + offset + r * shape.run_stride;
      if constexpr (kOp == ReduceOp::kLogSumExp) {
        double e[kReduceColumns];
        for (int64_t c = 0; c < columns; ++c) e[c] = double(from[c]) - shift[c];
        take_exponentials(e, columns);
        for (int64_t c = 0; c < columns; ++c) total[c] += e[c];
      } else {
        for (int64_t c = 0; c < columns; ++c) total[c] = join<kOp>(total[c], term<kOp, T>(from[c]));
      }
    }
  });
}

template <ReduceOp kOp, class T>
void reduce_columns(ReduceShape& shape, const T* x, T* y, int64_t columns) {
  double shift[kReduceColumns] = {};
  if constexpr (kOp == ReduceOp::kLogSumExp) {
    Accumulator<ReduceOp::kMax, T> maximum[kReduceColumns];
    column_totals<ReduceOp::kMax, T>(shape, x, columns, shift, maximum);
    for (int64_t c = 0; c < columns; ++c) shift[c] = finite_shift(double(maximum[c]));
  }
  Accumulator<kOp, T> total[kReduceColumns];
  column_totals<kTotalOf<kOp, T>, T>(shape, x, columns, shift, total);
  for (int64_t c = 0; c < columns; ++c) y[c] = finish<kOp, T>(total[c], shift[c], shape.count());
}

template <class T>
void reduce_all(const ReduceArgs& args, ReduceShape& shape, int64_t begin, int64_t end) {
  ReduceFunctions<T> f;
  dispatch_reduce(args.op, [&]<ReduceOp kOp>() {
    f = {reduce_line<kOp, T>, reduce_columns<kOp, T>, kReduceColumns, reduce_short_lines<kOp, T>, kShort<kOp, T>, kFewLines};
  });
  reduce_items(args, shape, begin, end, f);
}

}  // namespace

void reduce_plain(const ReduceArgs& args, ReduceShape& shape, int64_t begin, int64_t end) {
  if (args.type == DType::f64)
    reduce_all<double>(args, shape, begin, end);
  else if (args.type == DType::i32)
    reduce_all<int32_t>(args, shape, begin, end);
  else
    reduce_all<int64_t>(args, shape, begin, end);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
