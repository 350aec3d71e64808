// Pooling windows on plain layouts; pool/window.h says how vectors lie in them.
//
// Maxima and averages go by columns first. The rows of a window are combined into one line, by loads that are contiguous, and the
// windows of that line are all that is left to do for a row of outputs:
//
//      rows of the input       a b c d e f g      3 x 3, stride 2: 3 loads a vector of the line, and 3 of every second float from it
//      under the window        h i j k l m n      a vector of outputs, where the window by itself has 9 of these
//                              o p q r s t u
//                              -------------
//      line                    A B C D E F G      A = a + h + o (or the largest)
//      outputs                 ABC  CDE  EFG
#include "engine/kernels/sve/pool/window.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::pool {

namespace {

constexpr int64_t kColumns = 8;  // of the kernel, that an edge looks at once and not for every row of the window

/// Outputs of which some inputs are missing, or fewer than a vector.
template <PoolKind kKind>
void run_edge(const PoolArgs& args, const Window& w, Range columns, int64_t x, float* output) {
  const PoolShape& s = args.shape;
  vf result = svdup_f32(Op<kKind>::kStart);
  Column some[kColumns];
  for (int64_t begin = columns.begin; begin < columns.end; begin += kColumns) {
    const int64_t count = smaller(columns.end - begin, kColumns);
    for (int64_t k = 0; k < count; ++k) some[k] = column_of(s, x, begin + k);
    for (int64_t kz = w.planes.begin; kz < w.planes.end; ++kz)
      for (int64_t ky = w.rows.begin; ky < w.rows.end; ++ky)
        for (int64_t k = 0; k < count; ++k) {
          const vf value = load(s, some[k], row_of_tap(s, w, kz, ky));
          result = svsel(some[k].exists, Op<kKind>::add(result, value, args.power), result);
        }
  }
  vf scale = svdup_f32(1.0f);
  if (kKind == PoolKind::kAverage) scale = scales(args, w, x);
  svst1(svwhilelt_b32(x, s.out.width), output + x, Op<kKind>::end(result, scale, args.power));
}

/// kLanes floats, kStride apart; 0: `stride` apart. Every second float comes from two loads that read none beyond the last.
template <int kStride>
SVENGINE_INLINE vf load_strided(const float* at, int64_t stride) {
  const vb all = svptrue_b32();
  if constexpr (kStride == 1) return svld1(all, at);
  if constexpr (kStride == 0) return svld1_gather_index(all, at, svindex_s32(0, int32_t(stride)));
  constexpr int32_t kNext = kLanes - 1;
  const vf low = svtbl(svld1(all, at), svreinterpret_u32(svindex_s32(0, 2)));
  const vf high = svtbl(svld1(all, at + kNext), svreinterpret_u32(svindex_s32(-kNext, 2)));
  return svsel(svwhilelt_b32(0, kLanes / 2), low, high);
}

/// N vectors of outputs that have all their inputs, which begin at `starts`; of the columns `columns`.
template <PoolKind kKind, int kStride, int N>
void run_inner(const PoolArgs& args, const Window& w, Range columns, const int64_t* starts, float* output) {
  const PoolShape& s = args.shape;
  vf result[N];
  int64_t first[N];
  SVENGINE_UNROLL
  for (int n = 0; n < N; ++n) {
    result[n] = svdup_f32(Op<kKind>::kStart);
    first[n] = starts[n] * s.stride.width - s.pad.width;
  }
  for (int64_t begin = columns.begin; begin < columns.end; begin += kColumns)  // in the order of run_edge: sums are the same bits
    for (int64_t kz = w.planes.begin; kz < w.planes.end; ++kz)
      for (int64_t ky = w.rows.begin; ky < w.rows.end; ++ky) {
        const float* row = row_of_tap(s, w, kz, ky);
        for (int64_t kx = begin; kx < smaller(begin + kColumns, columns.end); ++kx) {
          const float* tap = row + kx * s.dilation.width;
          SVENGINE_UNROLL
          for (int n = 0; n < N; ++n)
            result[n] = Op<kKind>::add(result[n], load_strided<kStride>(tap + first[n], s.stride.width), args.power);
        }
      }
  vf scale = svdup_f32(1.0f);
  if (kKind == PoolKind::kAverage) scale = vrecip(svdup_f32(float(w.rows_counted * s.kernel.width)));
  SVENGINE_UNROLL
  for (int n = 0; n < N; ++n) svst1(svptrue_b32(), output + starts[n], Op<kKind>::end(result[n], scale, args.power));
}

/// A row in vectors; the last one is computed a second time in part where the width is no multiple of a vector.
template <PoolKind kKind, int kStride>
void run_row(const PoolArgs& args, const Window& w, Range columns, Range inner, float* output) {
  const int64_t width = args.shape.out.width;
  int64_t starts[4];
  int count = 0;
  for (int64_t x = 0; x < width; x += kLanes) {
    const int64_t from = x + kLanes <= width ? x : larger(width - kLanes, 0);
    if (from < inner.begin || from + kLanes > inner.end) {
      run_edge<kKind>(args, w, columns, from, output);
      continue;
    }
    starts[count++] = from;
    if (count < 4) continue;
    run_inner<kKind, kStride, 4>(args, w, columns, starts, output);
    count = 0;
  }
  if (count >= 2) run_inner<kKind, kStride, 2>(args, w, columns, starts, output);
  if (count % 2 == 1) run_inner<kKind, kStride, 1>(args, w, columns, starts + count - 1, output);
}

/// The rows of a window, combined column by column.
template <PoolKind kKind>
void combine_rows(const PoolShape& s, const Window& w, float* line) {
  constexpr int64_t kVectors = 4;
  int64_t x = 0;
  for (; x + kVectors * kLanes <= s.in.width; x += kVectors * kLanes) {
    vf result[kVectors];
    SVENGINE_UNROLL
    for (int64_t n = 0; n < kVectors; ++n) result[n] = svdup_f32(Op<kKind>::kStart);
    for (int64_t kz = w.planes.begin; kz < w.planes.end; ++kz)
      for (int64_t ky = w.rows.begin; ky < w.rows.end; ++ky) {
        const float* row = row_of_tap(s, w, kz, ky) + x;
        SVENGINE_UNROLL
        for (int64_t n = 0; n < kVectors; ++n) result[n] = Op<kKind>::add(result[n], svld1(svptrue_b32(), row + n * kLanes), 0);
      }
    SVENGINE_UNROLL
    for (int64_t n = 0; n < kVectors; ++n) svst1(svptrue_b32(), line + x + n * kLanes, result[n]);
  }
  for (; x < s.in.width; x += kLanes) {
    const vb some = svwhilelt_b32(x, s.in.width);
    vf result = svdup_f32(Op<kKind>::kStart);
    for (int64_t kz = w.planes.begin; kz < w.planes.end; ++kz)
      for (int64_t ky = w.rows.begin; ky < w.rows.end; ++ky)
        result = Op<kKind>::add(result, svld1(some, row_of_tap(s, w, kz, ky) + x), 0);
    svst1(some, line + x, result);
  }
}

/// An image of one row, the line.
PoolArgs args_of_line(PoolArgs args) {
  PoolShape& s = args.shape;
  s.in = {1, 1, s.in.width};
  s.kernel = {1, 1, s.kernel.width};
  s.dilation = {1, 1, s.dilation.width};
  return args;
}

template <PoolKind kKind>
void run_rows(const PoolArgs& args, int64_t begin, int64_t end, float* line) {
  const PoolShape& s = args.shape;
  const Range columns = columns_of_row(s);
  const Range inner = inner_outputs(s.in.width, s.out.width, s.kernel.width, s.stride.width, s.dilation.width, s.pad.width);
  auto run = run_row<kKind, 0>;
  if constexpr (kKind != PoolKind::kLp) run = s.stride.width == 1 ? run_row<kKind, 1> : s.stride.width == 2 ? run_row<kKind, 2> : run;
  const PoolArgs by_line = args_of_line(args);
  for (int64_t task = begin; task < end; ++task) {
    const Window w = window_of(args, row_of(s, task));
    float* output = args.output + task * s.out.width;
    if constexpr (kKind != PoolKind::kLp) {
      if (line) {
        combine_rows<kKind>(s, w, line);
        run(by_line, {line, 0, 0, {0, 1}, {0, 1}, w.rows_counted}, columns, inner, output);
        continue;
      }
    }
    run(args, w, columns, inner, output);
  }
}

/// Floats between neighbours in the order in which indices count.
struct IndexSteps {
  int64_t depth, height, width;
};

/// Indices are 32 bits wide within a channel's image, and widened when they are stored.
void store_indices(int64_t x, int64_t width, vi in_channel, int64_t channel_begin, int64_t* to) {
  int32_t narrow[kLanes];
  svst1(svptrue_b32(), narrow, in_channel);
  for (int64_t i = 0; i < kLanes; i += kLanes / 2) {
    const vb some = svwhilelt_b64(x + i, width);
    const vl wide = svld1sw_s64(some, narrow + i);
    svst1(some, to + x + i, svadd_x(svptrue_b64(), wide, svdup_s64(channel_begin)));
  }
}

void run_indexed_vector(const PoolArgs& args, const Window& w, Range columns, const IndexSteps& steps, int64_t plane, int64_t x,
                        int64_t at) {
  const PoolShape& s = args.shape;
  const vb all = svptrue_b32();
  vf best = svdup_f32(Op<PoolKind::kMax>::kStart);
  vi where = svdup_s32(0);
  vb found = svpfalse_b();
  for (int64_t kz = w.planes.begin; kz < w.planes.end; ++kz)
    for (int64_t ky = w.rows.begin; ky < w.rows.end; ++ky)
      for (int64_t kx = columns.begin; kx < columns.end; ++kx) {
        const Column c = column_of(s, x, kx);
        const vf value = load(s, c, row_of_tap(s, w, kz, ky));
        const int64_t row = (w.z + kz * s.dilation.depth) * steps.depth + (w.y + ky * s.dilation.height) * steps.height;
        const vi across = svmul_x(all, c.positions, svdup_s32(int32_t(steps.width)));
        const vi index = svadd_x(all, across, svdup_s32(int32_t(row)));
        // Better: the first of all, a larger one, or a NaN after numbers (which compare unequal to themselves only if NaN).
        const vb ordered = svcmpeq(c.exists, best, best);
        const vb not_worse = svnot_z(ordered, svcmple(ordered, value, best));
        const vb better = svorr_z(all, not_worse, svbic_z(all, c.exists, found));
        best = svsel(better, value, best);
        where = svsel(better, index, where);
        found = svorr_z(all, found, c.exists);
      }
  svst1(svwhilelt_b32(x, s.out.width), args.output + at + x, best);
  store_indices(x, s.out.width, where, plane * s.in.depth * s.in.height * s.in.width, args.indices + at);
}

}  // namespace

int64_t line_floats(const PoolArgs& args) {
  const PoolShape& s = args.shape;
  constexpr int64_t kMostFloats = 4096;  // 16 KiB: a part of every first-level cache
  const bool shared = (s.kernel.depth > 1 || s.kernel.height > 1) && s.kernel.width > 1 && args.kind != PoolKind::kLp;
  return shared && s.in.width <= kMostFloats ? s.in.width : 0;
}

void run_plain(const PoolArgs& args, int64_t begin, int64_t end, float* line) {
  switch (args.kind) {
    case PoolKind::kMax: return run_rows<PoolKind::kMax>(args, begin, end, line);
    case PoolKind::kAverage: return run_rows<PoolKind::kAverage>(args, begin, end, line);
    case PoolKind::kLp: return run_rows<PoolKind::kLp>(args, begin, end, line);
  }
}

void run_plain_indexed(const PoolArgs& args, int64_t begin, int64_t end) {
  const PoolShape& s = args.shape;
  IndexSteps steps{s.in.height * s.in.width, s.in.width, 1};
  if (args.column_major_indices) steps = {1, s.in.depth, s.in.depth * s.in.height};
  const Range columns = columns_of_row(s);
  for (int64_t task = begin; task < end; ++task) {
    const Row row = row_of(s, task);
    const Window w = window_of(args, row);
    for (int64_t x = 0; x < s.out.width; x += kLanes) run_indexed_vector(args, w, columns, steps, row.plane, x, task * s.out.width);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::pool
