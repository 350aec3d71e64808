// Softmax, log-softmax and hardmax where every lane is a line: no horizontal operation at all.
//
//     inner ->   v0    v1    v2    v3     kSoftmaxVectors vectors of one chunk of columns,
//     n      x [....][....][....][....]   each column walked from top to bottom three times: maximum,
//     |      x [....][....][....][....]   sum of exponentials (blocked and compensated like a line's),
//     v      x [....][....][....][....]   results
#include "engine/kernels/sve/softmax/middle.h"

#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/reduce/order_key.h"
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/softmax/exp.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int kV = kSoftmaxVectors;

struct Columns {
  const float* x;
  float* y;
  int64_t n, inner;
  vb lanes[kV];
};

Columns columns_of(const SoftmaxArgs& args, int64_t task) {
  const int64_t chunks = ceil_div(args.inner, kSoftmaxColumns);
  const int64_t outer = task / chunks, first = task % chunks * kSoftmaxColumns;
  Columns c{args.x + outer * args.x_outer_stride + first,
            args.y + outer * args.y_outer_stride + first,
            args.n,
            args.inner,
            {}};
  for (int v = 0; v < kV; ++v) c.lanes[v] = svwhilelt_b32(first + v * kLanes, args.inner);
  return c;
}

SVENGINE_INLINE void column_maxima(const Columns& c, vf (&maximum)[kV]) {
  const vb all = svptrue_b32();
  SVENGINE_UNROLL
  for (int v = 0; v < kV; ++v) maximum[v] = vdup(-kInfinity);
  for (int64_t j = 0; j < c.n; ++j) {
    SVENGINE_UNROLL
    for (int v = 0; v < kV; ++v)
      maximum[v] = svmax_x(all, maximum[v], svld1(c.lanes[v], c.x + j * c.inner + v * kLanes));
  }
}

// Sums of exp(x - maximum); stores the exponentials to y where kStore.
template <bool kStore>
SVENGINE_INLINE void column_sums(const Columns& c, const vf (&maximum)[kV], vf (&sum)[kV]) {
  constexpr int64_t kBlock = 8;
  vf high[kV], low[kV];
  for (int v = 0; v < kV; ++v) high[v] = low[v] = vdup(0.0f);
  for (int64_t first = 0; first < c.n; first += kBlock) {
    vf acc[kV];
    for (int v = 0; v < kV; ++v) acc[v] = vdup(0.0f);
    for (int64_t j = first; j < smaller(c.n, first + kBlock); ++j) {
      SVENGINE_UNROLL
      for (int v = 0; v < kV; ++v) {
        const int64_t at = j * c.inner + v * kLanes;
        const vf x = svld1(c.lanes[v], c.x + at);
        const vf e = vexp_of_difference(vsub(x, maximum[v]));
        if constexpr (kStore) svst1(c.lanes[v], c.y + at, e);
        acc[v] = vadd(acc[v], e);
      }
    }
    for (int v = 0; v < kV; ++v) two_sum(high[v], low[v], acc[v]);
  }
  for (int v = 0; v < kV; ++v) sum[v] = compensated(high[v], low[v]);
}

}  // namespace

int64_t softmax_middle_tasks(const SoftmaxArgs& args) noexcept {
  return args.outer * ceil_div(args.inner, kSoftmaxColumns);
}

template <bool kLog>
void softmax_middle(const SoftmaxArgs& args, int64_t begin, int64_t end) noexcept {
  for (int64_t task = begin; task < end; ++task) {
    const Columns c = columns_of(args, task);
    vf maximum[kV], sum[kV];
    column_maxima(c, maximum);
    column_sums<!kLog>(c, maximum, sum);
    for (int v = 0; v < kV; ++v) sum[v] = kLog ? vlog(sum[v]) : vrecip(sum[v]);
    for (int64_t j = 0; j < c.n; ++j) {
      SVENGINE_UNROLL
      for (int v = 0; v < kV; ++v) {
        const int64_t at = j * c.inner + v * kLanes;
        if constexpr (kLog) {
          const vf x = svld1(c.lanes[v], c.x + at);
          svst1(c.lanes[v], c.y + at, vsub(vsub(x, maximum[v]), sum[v]));
        } else {
          const vf e = svld1(c.lanes[v], c.y + at);
          svst1(c.lanes[v], c.y + at, vmul(e, sum[v]));
        }
      }
    }
  }
}

template void softmax_middle<false>(const SoftmaxArgs&, int64_t, int64_t) noexcept;
template void softmax_middle<true>(const SoftmaxArgs&, int64_t, int64_t) noexcept;

namespace {

// One line along the last axis.
void hardmax_line(const float* x, float* y, int64_t n) {
  const vb all = svptrue_b32();
  vi best = vdup_int(INT32_MIN);
  for_each_vector<4>(n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    best = svmax_m(p, best, order_key<true>(svld1(p, x + i)));
    svst1(p, y + i, vdup(0.0f));
  });
  const vi top = vdup_int(svmaxv(all, best));
  for (int64_t i = 0; i < n; i += kLanes) {
    const vb p = svwhilelt_b32(i, n);
    const vb here = svcmpeq(p, order_key<true>(svld1(p, x + i)), top);
    if (!svptest_any(p, here)) continue;
    const vi lane = svsel(here, svindex_s32(0, 1), vdup_int(kLanes));
    y[i + svminv(all, lane)] = 1.0f;
    return;
  }
}

void hardmax_columns(const Columns& c) {
  const vb all = svptrue_b32();
  for (int v = 0; v < kV; ++v) {
    vi best = vdup_int(INT32_MIN), where = vdup_int(0);
    for (int64_t j = 0; j < c.n; ++j) {
      const vi key = order_key<true>(svld1(c.lanes[v], c.x + j * c.inner + v * kLanes));
      const vb above = svcmpgt(all, key, best);
      best = svsel(above, key, best);
      where = svsel(above, vdup_int(int32_t(j)), where);
    }
    for (int64_t j = 0; j < c.n; ++j) {
      const vb here = svcmpeq(all, where, vdup_int(int32_t(j)));
      svst1(c.lanes[v], c.y + j * c.inner + v * kLanes, svsel(here, vdup(1.0f), vdup(0.0f)));
    }
  }
}

}  // namespace

void hardmax(const SoftmaxArgs& args, int64_t begin, int64_t end, void*) noexcept {
  for (int64_t task = begin; task < end; ++task) {
    if (args.inner == 1)
      hardmax_line(args.x + task * args.x_outer_stride, args.y + task * args.y_outer_stride, args.n);
    else
      hardmax_columns(columns_of(args, task));
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
