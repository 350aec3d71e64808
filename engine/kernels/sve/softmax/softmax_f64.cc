// Softmax and log-softmax of doubles: along contiguous lines, and along a middle axis, where every lane is a line.
//
// Lines of few elements are such columns too, read and written by gathers and scatters.
//
// Both walk three times: maximum, exponentials and their sum, results. Sums are of blocks (lines_f64.h); those of columns are of kBlock rows.
#include "engine/kernels/softmax.h"

#include "engine/kernels/sve/lines_f64.h"
#include "engine/kernels/sve/math/log_f64.h"
#include "engine/kernels/sve/softmax/softmax_f64.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {
namespace {

/// max(a, b) in the lanes of p, a elsewhere; NaN if either is.
template <int N>
SVENGINE_INLINE void raise(const LanesOf<N>& p, Many<N, vd>& a, const Many<N, vd>& b) {
  SVENGINE_UNROLL
  for (int u = 0; u < N; ++u) a.at[u] = svmax_m(p.at[u], a.at[u], b.at[u]);
}

SVENGINE_INLINE double maximum_of(const double* x, int64_t n) {
  Vectors most = many_of<kMany>(-__builtin_inf());
  for_steps(n, [&](int64_t i, const Lanes& p) SVENGINE_INLINE_LAMBDA { raise(p, most, load(p, x + i)); });
  const vb all = svptrue_b64();
  return svmaxv(all, svmax_x(all, svmax_x(all, most.at[0], most.at[1]), svmax_x(all, most.at[2], most.at[3])));
}

/// sum_i exp(x_i - top); the exponentials go to y where kStore.
template <bool kStore>
[[gnu::noinline]] double sum_of_line(const double* x, double* y, int64_t n, double top) {
  double sum[1];
  sum_line(n, sum, [=](int64_t i, const Lanes& p, Vectors(&e)[1]) SVENGINE_INLINE_LAMBDA {
    e[0] = vexp_of_difference_f64(vsub(load(p, x + i), vdup(top)));
    if constexpr (kStore) store(p, y + i, e[0]);
  });
  return sum[0];
}

template <bool kLog>
[[gnu::noinline]] void line(const double* x, double* y, int64_t n) {
  const double top = maximum_of(x, n), sum = sum_of_line<!kLog>(x, y, n, top);
  if constexpr (kLog) {
    const vd logarithm = vdup(__builtin_log(sum));
    for_steps(n, [&](int64_t i, const Lanes& p) SVENGINE_INLINE_LAMBDA {
      store(p, y + i, vsub(vsub(load(p, x + i), vdup(top)), logarithm));
    });
  } else {
    const vd factor = vdup(1 / sum);
    for_steps(n, [&](int64_t i, const Lanes& p) SVENGINE_INLINE_LAMBDA { store(p, y + i, vmul(load(p, y + i), factor)); });
  }
}

constexpr int kColumns = 2;  // vectors side by side: more do not fit A64FX's registers
constexpr int64_t kColumnStep = kColumns * kLanesOf<double>;
using Columns = Many<kColumns, vd>;
using ColumnLanes = LanesOf<kColumns>;

/// sum_j exp(x_j - top) of every column; the exponentials go to y where kStore.
template <bool kStore>
SVENGINE_INLINE Columns sums_of_columns(const SoftmaxArgsF64& args, const ColumnLanes& p, const double* x, double* y, const Columns& top) {
  Columns total = many_of<kColumns>(0.0);
  for (int64_t first = 0; first < args.n; first += kBlock) {
    Columns sum = many_of<kColumns>(0.0);
    for (int64_t j = first; j < smaller(args.n, first + kBlock); ++j) {
      const Columns e = vexp_of_difference_f64(vsub(load(p, x + j * args.inner), top));
      if constexpr (kStore) store(p, y + j * args.inner, e);
      sum = vadd(sum, e);
    }
    total = vadd(total, sum);
  }
  return total;
}

template <bool kLog>
[[gnu::noinline]] void columns(const SoftmaxArgsF64& args, const ColumnLanes& p, const double* x, double* y) {
  Columns top = many_of<kColumns>(-__builtin_inf());
  for (int64_t j = 0; j < args.n; ++j) raise(p, top, load(p, x + j * args.inner));
  SVENGINE_UNROLL
  for (int u = 0; u < kColumns; ++u) top.at[u] = svsel(p.at[u], top.at[u], vdup(0.0));
  const Columns sum = sums_of_columns<!kLog>(args, p, x, y, top);
  Columns last;
  SVENGINE_UNROLL
  for (int u = 0; u < kColumns; ++u) last.at[u] = kLog ? vlog_f64(sum.at[u]) : vd(svdiv_x(svptrue_b64(), vdup(1.0), sum.at[u]));
  for (int64_t j = 0; j < args.n; ++j) {
    if constexpr (kLog)
      store(p, y + j * args.inner, vsub(vsub(load(p, x + j * args.inner), top), last));
    else
      store(p, y + j * args.inner, vmul(load(p, y + j * args.inner), last));
  }
}

constexpr int64_t kShortLine = kLanesOf<double>;  // elements of a line that goes beside others, a lane each, rather than across the lanes

/// Lines of at most kShortLine elements, kColumnStep at a time.
template <bool kLog>
class LinesBeside {
 public:
  explicit LinesBeside(const SoftmaxArgsF64& args)
      : args_(args), from_(svindex_s64(0, args.x_outer_stride)), to_(svindex_s64(0, args.y_outer_stride)) {}

  [[gnu::noinline]] void run(int64_t first, int64_t lines) {
    const ColumnLanes p = some_lanes<kColumns>(0, lines);
    const double* x = args_.x + first * args_.x_outer_stride;
    double* y = args_.y + first * args_.y_outer_stride;
    Columns top = many_of<kColumns>(-__builtin_inf());
    for (int64_t j = 0; j < args_.n; ++j) raise(p, top, gather(p, x + j));
    SVENGINE_UNROLL
    for (int u = 0; u < kColumns; ++u) top.at[u] = svsel(p.at[u], top.at[u], vdup(0.0));
    const ColumnLanes all = some_lanes<kColumns>(0, kColumnStep);
    Columns sum = many_of<kColumns>(0.0);
    for (int64_t j = 0; j < args_.n; ++j) {
      const Columns difference = vsub(gather(p, x + j), top), e = vexp_of_difference_f64(difference);
      store(all, kept_ + j * kColumnStep, kLog ? difference : e);
      sum = vadd(sum, e);
    }
    Columns last;
    SVENGINE_UNROLL
    for (int u = 0; u < kColumns; ++u) last.at[u] = kLog ? vlog_f64(sum.at[u]) : vd(svdiv_x(svptrue_b64(), vdup(1.0), sum.at[u]));
    for (int64_t j = 0; j < args_.n; ++j) {
      const Columns kept = load(all, kept_ + j * kColumnStep);
      scatter(p, y + j, kLog ? vsub(kept, last) : vmul(kept, last));
    }
  }

 private:
  SVENGINE_INLINE Columns gather(const ColumnLanes& p, const double* x) const {
    Columns v;
    SVENGINE_UNROLL
    for (int u = 0; u < kColumns; ++u)
      v.at[u] = svld1_gather_index(p.at[u], x + u * kLanesOf<double> * args_.x_outer_stride, from_);
    return v;
  }
  SVENGINE_INLINE void scatter(const ColumnLanes& p, double* y, const Columns& v) const {
    SVENGINE_UNROLL
    for (int u = 0; u < kColumns; ++u)
      svst1_scatter_index(p.at[u], y + u * kLanesOf<double> * args_.y_outer_stride, to_, v.at[u]);
  }

  const SoftmaxArgsF64& args_;
  vl from_, to_;  // places of lanes
  double kept_[kShortLine * kColumnStep];
};

}  // namespace

int64_t softmax_f64_tasks(const SoftmaxArgsF64& args) noexcept {
  return args.inner == 1 ? TaskPartition(args.outer, args.n).tasks() : args.outer * ceil_div(args.inner, kColumnStep);
}

template <bool kLog>
void softmax_f64(const SoftmaxArgsF64& args, int64_t begin, int64_t end, void*) noexcept {
  if (args.inner == 1) {
    const TaskPartition partition(args.outer, args.n);
    if (args.n <= kShortLine) {
      LinesBeside<kLog> lines(args);
      const int64_t last = partition.begin(end);
      for (int64_t i = partition.begin(begin); i < last; i += kColumnStep) lines.run(i, smaller(kColumnStep, last - i));
      return;
    }
    for (int64_t i = partition.begin(begin); i < partition.begin(end); ++i)
      line<kLog>(args.x + i * args.x_outer_stride, args.y + i * args.y_outer_stride, args.n);
    return;
  }
  const int64_t chunks = ceil_div(args.inner, kColumnStep);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t outer = task / chunks, first = task % chunks * kColumnStep;
    columns<kLog>(args, some_lanes<kColumns>(first, args.inner), args.x + outer * args.x_outer_stride + first,
                  args.y + outer * args.y_outer_stride + first);
  }
}

template void softmax_f64<false>(const SoftmaxArgsF64&, int64_t, int64_t, void*) noexcept;
template void softmax_f64<true>(const SoftmaxArgsF64&, int64_t, int64_t, void*) noexcept;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
