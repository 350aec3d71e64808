// Pooling windows on plain layouts by lines. The rows of a window are combined into one line of columns, beside it what the padding
// holds; a row of outputs is then a window of one row on that line, without edges. With a stride the line is dealt out into phases
// first, columns `stride` apart, so that every load is of neighbours:
//
//      rows of the input       a b c d e f      3 x 3, stride 2, a pad of 1: a vector of outputs takes 3 loads for each of the 2
//      under the window        g h i j k l      vectors of the line that it needs, and 3 of phases; as windows by themselves it takes
//                              m n o p q r      9 gathers
//                              -----------
//      line                  - A B C D E F -    A = the largest of a, g, m, or their sum
//      phases                  - B D F
//                              A C E -
//      outputs                 -AB  BCD  DEF
#include "engine/kernels/sve/pool/window.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::pool {

namespace {

constexpr int64_t kMostColumns = 4096;  // of a line: 16 KiB, a part of every first-level cache

/// As many outputs of a row as are made of one line.
struct Strip {
  int64_t outputs = 0;  // a multiple of kLanes
  int64_t columns = 0;  // of the line
  int64_t phase = 0;    // floats of each phase, a multiple of kLanes
};

/// No outputs: not even a vector's line is short enough.
Strip strip_of(const PoolShape& s) {
  const int64_t stride = s.stride.width;
  if (larger(stride, larger(s.kernel.width, s.dilation.width)) > kMostColumns) return {};
  const int64_t window = (s.kernel.width - 1) * s.dilation.width + 1;
  if (window > kMostColumns) return {};
  Strip strip;
  strip.outputs = smaller(((kMostColumns - window) / stride + 1) / kLanes * kLanes, round_up(s.out.width, kLanes));
  if (strip.outputs == 0) return {};
  strip.columns = (strip.outputs - 1) * stride + window;
  strip.phase = round_up(ceil_div(strip.columns, stride), kLanes);
  return strip;
}

/// Calls body.operator()<N>(i, some), `some` being predicates of N vectors, for all vectors of numbers [i, end): four at a time, but one
/// for kLp, whose root of four would not stay in registers.
template <PoolKind kKind, class Body>
SVENGINE_INLINE void for_vectors(int64_t i, int64_t end, const Body& body) {
  const vb all = svptrue_b32();
  if constexpr (kKind != PoolKind::kLp) {
    for (; i + 4 * kLanes <= end; i += 4 * kLanes) {
      const vb some[] = {all, all, all, all};
      body.template operator()<4>(i, some);
    }
    for (; i + kLanes < end; i += 2 * kLanes) {
      const vb some[] = {all, svwhilelt_b32(i + kLanes, end)};
      body.template operator()<2>(i, some);
    }
  }
  for (; i < end; i += kLanes) {
    const vb some[] = {svwhilelt_b32(i, end)};
    body.template operator()<1>(i, some);
  }
}

/// N vectors of the line from `column` of the image on.
template <PoolKind kKind, int N>
SVENGINE_INLINE void combine(const PoolArgs& args, const Window& w, int64_t column, const vb* some, float* line) {
  vf result[N];
  SVENGINE_UNROLL
  for (int n = 0; n < N; ++n) result[n] = svdup_f32(Op<kKind>::kStart);
  for (int64_t kz = w.planes.begin; kz < w.planes.end; ++kz)
    for (int64_t ky = w.rows.begin; ky < w.rows.end; ++ky) {
      const float* row = row_of_tap(args.shape, w, kz, ky) + column;
      SVENGINE_UNROLL
      for (int n = 0; n < N; ++n) result[n] = Op<kKind>::add(result[n], svld1(some[n], row + n * kLanes), args.power);
    }
  SVENGINE_UNROLL
  for (int n = 0; n < N; ++n) svst1(some[n], line + n * kLanes, result[n]);
}

SVENGINE_INLINE void fill(float value, float* line, Range columns) {
  for (int64_t i = columns.begin; i < columns.end; i += kLanes) svst1(svwhilelt_b32(i, columns.end), line + i, svdup_f32(value));
}

/// `columns` of them, which begin at column `first` of the image, or before it.
template <PoolKind kKind>
void make_line(const PoolArgs& args, const Window& w, int64_t first, int64_t columns, float* line) {
  const int64_t begin = smaller(larger(-first, 0), columns), end = larger(begin, smaller(args.shape.in.width - first, columns));
  fill(Op<kKind>::kStart, line, {0, begin});
  for_vectors<kKind>(begin, end, [&]<int N>(int64_t i, const vb* some) SVENGINE_INLINE_LAMBDA {
    combine<kKind, N>(args, w, first + i, some, line + i);
  });
  fill(Op<kKind>::kStart, line, {end, columns});
}

/// Phase p of the line is its columns p, p + stride, ...
void deal_out(const float* line, int64_t stride, int64_t phase, float* phases) {
  const vb all = svptrue_b32();
  if (stride == 2) {
    for (int64_t i = 0; i < phase; i += kLanes) {
      const vf low = svld1(all, line + 2 * i), high = svld1(all, line + 2 * i + kLanes);
      svst1(all, phases + i, svuzp1(low, high));
      svst1(all, phases + phase + i, svuzp2(low, high));
    }
    return;
  }
  const vi apart = svindex_s32(0, int32_t(stride));
  for (int64_t p = 0; p < stride; ++p)
    for (int64_t i = 0; i < phase; i += kLanes)
      svst1(all, phases + p * phase + i, svld1_gather_index(all, line + p + i * stride, apart));
}

/// The columns of a window, in phases.
struct Taps {
  const float* first;     // of output 0
  int64_t count;
  int64_t at, step;       // phase of the first one, and how many phases lie between neighbours, modulo the stride
  int64_t stride, ahead, back;  // floats from one tap to the next, and back where the phases begin again
};

Taps taps_of(const PoolShape& s, const Strip& strip, const float* phases) {
  const Range columns = columns_of_row(s);
  const int64_t stride = s.stride.width, begin = columns.begin * s.dilation.width, apart = s.dilation.width;
  return {phases + begin % stride * strip.phase + begin / stride,
          columns.size(),
          begin % stride,
          apart % stride,
          stride,
          apart % stride * strip.phase + apart / stride,
          stride * strip.phase - 1};
}

/// N vectors of outputs from number x of the strip on. rows: what kAverage counts in depth and height.
template <PoolKind kKind, int N>
SVENGINE_INLINE void join(const PoolArgs& args, const Taps& taps, const float* counts, int64_t rows, int64_t x, const vb* some, float* output) {
  const vb all = svptrue_b32();
  vf result[N];
  SVENGINE_UNROLL
  for (int n = 0; n < N; ++n) result[n] = svdup_f32(Op<kKind>::kStart);
  const float* tap = taps.first + x;
  int64_t at = taps.at;
  for (int64_t k = 0; k < taps.count; ++k) {
    SVENGINE_UNROLL
    for (int n = 0; n < N; ++n) result[n] = Op<kKind>::join(result[n], svld1(all, tap + n * kLanes));
    tap += taps.ahead, at += taps.step;
    if (at >= taps.stride) tap -= taps.back, at -= taps.stride;
  }
  SVENGINE_UNROLL
  for (int n = 0; n < N; ++n) {
    vf scale = svdup_f32(1.0f);
    if (kKind == PoolKind::kAverage) scale = scales_of(counts + x + n * kLanes, rows);
    svst1(some[n], output + x + n * kLanes, Op<kKind>::end(result[n], scale, args.power));
  }
}

/// The outputs of rows [begin, end) from number `first` on.
template <PoolKind kKind>
void run_strip(const PoolArgs& args, const Strip& strip, int64_t first, int64_t begin, int64_t end, float* memory) {
  const PoolShape& s = args.shape;
  float *counts = memory, *line = counts + strip.outputs, *phases = s.stride.width == 1 ? line : line + s.stride.width * strip.phase;
  if (kKind == PoolKind::kAverage) count_columns(args, first, strip.outputs, counts);
  const Taps taps = taps_of(s, strip, phases);
  const int64_t outputs = smaller(s.out.width - first, strip.outputs);
  for (int64_t task = begin; task < end; ++task) {
    const Window w = window_of(args, row_of(s, task));
    make_line<kKind>(args, w, first * s.stride.width - s.pad.width, strip.columns, line);
    if (phases != line) deal_out(line, s.stride.width, strip.phase, phases);
    float* output = args.output + task * s.out.width + first;
    for_vectors<kKind>(0, outputs, [&]<int N>(int64_t x, const vb* some) SVENGINE_INLINE_LAMBDA {
      join<kKind, N>(args, taps, counts, w.rows_counted, x, some, output);
    });
  }
}

template <PoolKind kKind>
void run_kind(const PoolArgs& args, int64_t begin, int64_t end, float* memory) {
  const Strip strip = strip_of(args.shape);
  for (int64_t first = 0; first < args.shape.out.width; first += strip.outputs) run_strip<kKind>(args, strip, first, begin, end, memory);
}

}  // namespace

int64_t line_floats(const PoolArgs& args) {
  const Strip strip = strip_of(args.shape);
  const int64_t stride = args.shape.stride.width;
  return strip.outputs + stride * strip.phase * (stride == 1 ? 1 : 2);
}

void run_by_lines(const PoolArgs& args, int64_t begin, int64_t end, float* memory) {
  switch (args.kind) {
    case PoolKind::kMax: return run_kind<PoolKind::kMax>(args, begin, end, memory);
    case PoolKind::kAverage: return run_kind<PoolKind::kAverage>(args, begin, end, memory);
    case PoolKind::kLp: return run_kind<PoolKind::kLp>(args, begin, end, memory);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::pool
