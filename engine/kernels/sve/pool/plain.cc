// Pooling windows on plain layouts, vector by vector of outputs, for what is too wide for lines (lines.cc), and for the places of
// maxima. pool/window.h says how vectors lie in windows.
#include "engine/kernels/sve/pool/window.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::pool {

namespace {

constexpr int64_t kColumns = 8;  // of the kernel, that are looked at once and not for every row of the window

template <PoolKind kKind>
void run_vector(const PoolArgs& args, const Window& w, Range columns, int64_t x, float* output) {
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

template <PoolKind kKind>
void run_rows(const PoolArgs& args, int64_t begin, int64_t end) {
  const PoolShape& s = args.shape;
  const Range columns = columns_of_row(s);
  for (int64_t task = begin; task < end; ++task) {
    const Window w = window_of(args, row_of(s, task));
    for (int64_t x = 0; x < s.out.width; x += kLanes) run_vector<kKind>(args, w, columns, x, args.output + task * s.out.width);
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

void run_plain(const PoolArgs& args, int64_t begin, int64_t end) {
  switch (args.kind) {
    case PoolKind::kMax: return run_rows<PoolKind::kMax>(args, begin, end);
    case PoolKind::kAverage: return run_rows<PoolKind::kAverage>(args, begin, end);
    case PoolKind::kLp: return run_rows<PoolKind::kLp>(args, begin, end);
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
