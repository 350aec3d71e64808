// Reductions of float32. Sums (of x, |x|, x^2, exp(x - maximum)) are blocked and compensated as reduction_loops.h says; maximum,
// minimum and product need no more than independent accumulators.
#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/reduce/shape.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int kV = kReduceVectors;

template <ReduceOp kOp>
constexpr bool kAdds = kOp != ReduceOp::kMax&& kOp != ReduceOp::kMin&& kOp != ReduceOp::kProd;

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
float line_total(ReduceShape& shape, const float* x, [[maybe_unused]] vf shift) {
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
  const float total = line_total<kOp>(shape, x, shift), count = float(shape.count());
  if constexpr (kOp == ReduceOp::kMean) return total / count;  // a vector FDIV takes far longer
  const vf result = finish<kOp>(vdup(total), shift, count);
  return svlastb(svptrue_b32(), result);
}

// Vectors of columns that are added up together: an exp leaves too few registers for all of them.
template <ReduceOp kOp>
constexpr int kTogether = kOp == ReduceOp::kLogSumExp ? 2 : kV;

// Totals of kN vectors of columns, down all rows. Rows go by two, for independent accumulators.
template <ReduceOp kOp, int kN>
SVENGINE_INLINE void column_totals(ReduceShape& shape, const float* x, const vb (&lanes)[kN],
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
[[gnu::noinline]] void reduce_columns(ReduceShape& shape, const float* x, float* y, int64_t columns) {
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
  column_totals<kOp>(shape, x, lanes, shift, total);
  for (int v = 0; v < kN; ++v) svst1(lanes[v], y + v * kLanes, finish<kOp>(total[v], shift[v], float(shape.count())));
}

template <ReduceOp kOp>
void reduce_items(const ReduceArgs& args, ReduceShape& shape, int64_t begin, int64_t end) {
  const float* x = static_cast<const float*>(args.x);
  float* y = static_cast<float*>(args.y);
  if (begin >= end) return;
  shape.kept.seek(begin / shape.column_chunks);
  for (int64_t item = begin; item < end; ++item) {
    const float* from = x + shape.kept.offset(0);
    if (shape.lines) {
      y[item] = reduce_line<kOp>(shape, from);
    } else {
      const int64_t chunk = item % shape.column_chunks, first = chunk * kReduceColumns;
      float* to = y + item / shape.column_chunks * shape.columns;
      const int64_t last = smaller(shape.columns, first + kReduceColumns);
      for (int64_t at = first; at < last; at += kTogether<kOp> * kLanes)
        reduce_columns<kOp>(shape, from + at, to + at, shape.columns - at);
      if (chunk + 1 < shape.column_chunks) continue;
    }
    shape.kept.next();
  }
}

}  // namespace

void reduce_f32(const ReduceArgs& args, ReduceShape& shape, int64_t begin, int64_t end) {
  dispatch_reduce(args.op, [&]<ReduceOp kOp>() { reduce_items<kOp>(args, shape, begin, end); });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
