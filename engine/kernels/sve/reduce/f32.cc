// Reductions of float32. Sums (of x, |x|, x^2, exp(x - maximum)) are blocked and compensated as reduction_loops.h says; maximum,
// minimum and product need no more than independent accumulators. Lines of few vectors go kLanes at a time, for what is done once per line,
// across lanes, would take longer than their elements; a line's result is the same bits however it was grouped.
#include "engine/kernels/sve/line_folds.h"
#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/reduce/items.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int kV = kReduceVectors;

template <ReduceOp kOp>
constexpr bool kAdds = kOp != ReduceOp::kMax&& kOp != ReduceOp::kMin&& kOp != ReduceOp::kProd;

// What has the same totals, so that there are fewer functions.
template <ReduceOp kOp>
constexpr ReduceOp kTotalOf = kOp == ReduceOp::kMean || kOp == ReduceOp::kLogSum ? ReduceOp::kSum
                              : kOp == ReduceOp::kL2                             ? ReduceOp::kSumSquare
                                                                                 : kOp;

// What is added up; `shift` is the maximum for kLogSumExp.
template <ReduceOp kOp>
SVENGINE_INLINE vf term(vf x, [[maybe_unused]] vf shift) {
  if constexpr (kOp == ReduceOp::kL1)
    return vabs(x);
  else if constexpr (kOp == ReduceOp::kL2 || kOp == ReduceOp::kSumSquare)
    return vmul(x, x);
  else if constexpr (kOp == ReduceOp::kLogSumExp)
    return vexp(vsub(x, shift));
  else
    return x;
}

template <ReduceOp kOp>
SVENGINE_INLINE vf join(vf a, vf b) {
  if constexpr (kOp == ReduceOp::kMax)
    return vmax(a, b);
  else if constexpr (kOp == ReduceOp::kMin)
    return vmin(a, b);
  else
    return vmul(a, b);
}

template <ReduceOp kOp>
constexpr float kIdentity = kOp == ReduceOp::kMax   ? -kInfinity
                            : kOp == ReduceOp::kMin ? kInfinity
                                                    : 1.0f;

template <ReduceOp kOp>
float join_lanes(vf v) {
  const vb all = svptrue_b32();
  if constexpr (kOp == ReduceOp::kMax) return svmaxv(all, v);
  if constexpr (kOp == ReduceOp::kMin) return svminv(all, v);
  float lanes[kLanes];
  svst1(all, lanes, v);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] *= lanes[i + width];
  return lanes[0];
}

// A maximum that can be subtracted: an infinite one would make NaN of what should be infinity.
SVENGINE_INLINE vf finite_shift(vf maximum) {
  return vsel(vlt(vabs(maximum), vdup(kInfinity)), maximum, vsel(veq(maximum, maximum), vdup(0.0f), maximum));
}

// From what was joined or added up to the result.
template <ReduceOp kOp>
SVENGINE_INLINE vf finish(vf total, [[maybe_unused]] vf shift, [[maybe_unused]] float count) {
  if constexpr (kOp == ReduceOp::kMean)
    return svdiv_x(svptrue_b32(), total, vdup(count));
  else if constexpr (kOp == ReduceOp::kL2)
    return vsqrt(total);
  else if constexpr (kOp == ReduceOp::kLogSum)
    return vlog(total);
  else if constexpr (kOp == ReduceOp::kLogSumExp)
    return vadd(vlog(total), shift);
  else
    return total;
}

template <ReduceOp kOp>
[[gnu::noinline]] float line_total(ReduceShape& shape, const float* x, [[maybe_unused]] vf shift) {
  if constexpr (kAdds<kOp>) {
    vf high[1] = {vdup(0.0f)}, low[1] = {vdup(0.0f)};
    bool fresh = true;
    shape.for_runs([&](int64_t offset) SVENGINE_INLINE_LAMBDA {
      const float* from = x + offset;
      add_line<8, 1>(shape.run, high, low, fresh, [=](int64_t i, vb p, vf(&v)[1]) SVENGINE_INLINE_LAMBDA {
        v[0] = term<kOp>(svld1(p, from + i), shift);
      });
      fresh = false;
    });
    return lane_sum(high[0], low[0]);
  } else {
    vf joined = vdup(kIdentity<kOp>);
    shape.for_runs([&](int64_t offset) SVENGINE_INLINE_LAMBDA {
      const float* from = x + offset;
      joined = join_line<8>(
          shape.run, joined, vdup(kIdentity<kOp>),
          [](vf a, vf b) SVENGINE_INLINE_LAMBDA -> vf { return join<kOp>(a, b); },
          [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf { return svld1(p, from + i); });
    });
    return join_lanes<kOp>(joined);
  }
}

template <ReduceOp kOp>
float reduce_line(ReduceShape& shape, const float* x) {
  vf shift = vdup(0.0f);
  if constexpr (kOp == ReduceOp::kLogSumExp) shift = finite_shift(vdup(line_total<ReduceOp::kMax>(shape, x, shift)));
  const float total = line_total<kTotalOf<kOp>>(shape, x, shift), count = float(shape.count());
  if constexpr (kOp == ReduceOp::kMean) return total / count;  // a vector FDIV takes far longer
  const vf result = finish<kOp>(vdup(total), shift, count);
  return svlastb(svptrue_b32(), result);
}

// Vectors of a line that is short: beyond, its elements take longer than what is done once per line.
constexpr int kShortVectors = 4;
constexpr int kFewLines = 4;  // so many go one by one, in less than a fold

template <ReduceOp kOp>
SVENGINE_INLINE vf join_or_add(vf a, vf b) {
  if constexpr (kAdds<kOp>)
    return vadd(a, b);
  else
    return join<kOp>(a, b);
}

// As lane_sum() and join_lanes() do it for one line.
template <ReduceOp kOp>
[[gnu::noinline]] vf fold_lines(const LineVectors<float>& partial) {
  constexpr FoldOrder kOrder = kOp == ReduceOp::kProd ? FoldOrder::kHalves : FoldOrder::kNeighbours;
  return fold<kOrder>(partial, [](vf a, vf b) SVENGINE_INLINE_LAMBDA -> vf { return join_or_add<kOp>(a, b); });
}

// A vector for each of `lines` lines of kU vectors at most: the one whose lanes' total is line_total() of it. Line r's shift is shift[r].
template <ReduceOp kOp, int kU>
[[gnu::noinline]] void short_partials(LineVectors<float>& partial, const float* x, int64_t n, int lines,
                                      [[maybe_unused]] const float* shift) {
  vb p[kU];
  for (int u = 0; u < kU; ++u) p[u] = svwhilelt_b32(int64_t(u * kLanes), n);
  for (int r = 0; r < lines; ++r) {
    vf acc[kU];
    SVENGINE_UNROLL
    for (int u = 0; u < kU; ++u) {
      const vf value = svld1(p[u], x + r * n + u * kLanes);
      if constexpr (kAdds<kOp>)
        acc[u] = svadd_m(p[u], vdup(0.0f), term<kOp>(value, vdup(kOp == ReduceOp::kLogSumExp ? shift[r] : 0.0f)));
      else
        acc[u] = svsel(p[u], value, vdup(kIdentity<kOp>));
    }
    combine(acc, join_or_add<kOp>);
    svst1(svptrue_b32(), partial.line(r), acc[0]);
  }
}

// Lane r: line_total() of line r.
template <ReduceOp kOp>
vf short_totals(LineVectors<float>& partial, const float* x, int64_t n, int lines, const float* shift) {
  if (n <= kLanes)
    short_partials<kOp, 1>(partial, x, n, lines, shift);
  else if (n <= 2 * kLanes)
    short_partials<kOp, 2>(partial, x, n, lines, shift);
  else
    short_partials<kOp, kShortVectors>(partial, x, n, lines, shift);
  return fold_lines<kAdds<kOp> ? ReduceOp::kSum : kOp>(partial);
}

template <ReduceOp kOp>
void reduce_short_lines(const float* x, float* y, int64_t n, int64_t count) {
  LineVectors<float> partial;
  float shifts[kLanes] = {};
  for (int64_t first = 0; first < count; first += kLanes) {
    const int lines = int(smaller(kLanes, count - first));
    const float* from = x + first * n;
    vf shift = vdup(0.0f);
    if constexpr (kOp == ReduceOp::kLogSumExp) {
      shift = finite_shift(short_totals<ReduceOp::kMax>(partial, from, n, lines, shifts));
      svst1(svptrue_b32(), shifts, shift);
    }
    const vf total = short_totals<kTotalOf<kOp>>(partial, from, n, lines, shifts);
    svst1(svwhilelt_b32(first, count), y + first, finish<kOp>(total, shift, float(n)));
  }
}

// Vectors of columns that are added up together: an exp leaves too few registers for all of them.
template <ReduceOp kOp>
constexpr int kTogether = kOp == ReduceOp::kLogSumExp ? 2 : kV;

// Totals of kN vectors of columns, down all rows. Rows go by two, for independent accumulators.
template <ReduceOp kOp, int kN>
[[gnu::noinline]] void column_totals(ReduceShape& shape, const float* x, const vb (&lanes)[kN],
                                   [[maybe_unused]] const vf (&shift)[kN], vf (&total)[kN]) {
  constexpr int kRows = 2;
  constexpr float kStart = kAdds<kOp> ? 0.0f : kIdentity<kOp>;
  vf low[kN];
  for (int v = 0; v < kN; ++v) {
    total[v] = vdup(kStart);
    low[v] = vdup(0.0f);
  }
  shape.for_runs([&](int64_t offset) SVENGINE_INLINE_LAMBDA {
    for (int64_t row = 0; row < shape.run; row += kRows * kBlockSteps) {
      vf acc[kRows][kN];
      for (int k = 0; k < kRows * kN; ++k) acc[k / kN][k % kN] = vdup(kStart);
      const int64_t last = smaller(shape.run, row + kRows * kBlockSteps);
      const auto visit = [&](int64_t r, vf(&to)[kN]) SVENGINE_INLINE_LAMBDA {
        SVENGINE_UNROLL
        for (int v = 0; v < kN; ++v) {
          const vf value = svld1(lanes[v], x + offset + r * shape.run_stride + v * kLanes);
          if constexpr (kAdds<kOp>)
            to[v] = vadd(to[v], term<kOp>(value, shift[v]));
          else
            to[v] = join<kOp>(to[v], value);
        }
      };
      int64_t r = row;
      for (; r + kRows <= last; r += kRows) {
        visit(r, acc[0]);
        visit(r + 1, acc[1]);
      }
      if (r < last) visit(r, acc[0]);
      SVENGINE_UNROLL
      for (int v = 0; v < kN; ++v) {
        if constexpr (kAdds<kOp>)
          two_sum(total[v], low[v], vadd(acc[0][v], acc[1][v]));
        else
          total[v] = join<kOp>(total[v], join<kOp>(acc[0][v], acc[1][v]));
      }
    }
  });
  if constexpr (kAdds<kOp>)
    for (int v = 0; v < kN; ++v) total[v] = compensated(total[v], low[v]);
}

template <ReduceOp kOp>
void reduce_columns(ReduceShape& shape, const float* x, float* y, int64_t columns) {
  constexpr int kN = kTogether<kOp>;
  vb lanes[kN];
  vf shift[kN], total[kN];
  for (int v = 0; v < kN; ++v) {
    lanes[v] = svwhilelt_b32(int64_t(v * kLanes), columns);
    shift[v] = vdup(0.0f);
  }
  if constexpr (kOp == ReduceOp::kLogSumExp) {
    column_totals<ReduceOp::kMax>(shape, x, lanes, shift, total);
    for (int v = 0; v < kN; ++v) shift[v] = finite_shift(total[v]);
  }
  column_totals<kTotalOf<kOp>>(shape, x, lanes, shift, total);
  for (int v = 0; v < kN; ++v) svst1(lanes[v], y + v * kLanes, finish<kOp>(total[v], shift[v], float(shape.count())));
}

}  // namespace

void reduce_f32(const ReduceArgs& args, ReduceShape& shape, int64_t begin, int64_t end) {
  ReduceFunctions<float> functions;
  dispatch_reduce(args.op, [&]<ReduceOp kOp>() {
    functions = {reduce_line<kOp>,        reduce_columns<kOp>,    kTogether<kOp> * kLanes,
                 reduce_short_lines<kOp>, kShortVectors * kLanes, kFewLines};
  });
  reduce_items(args, shape, begin, end, functions);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
