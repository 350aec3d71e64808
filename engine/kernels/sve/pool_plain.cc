// Pooling windows on plain layouts: a vector is kLanes neighbouring outputs of a row. For each kernel column a predicate says
// which lanes' inputs exist; with stride 1 they are loaded, else gathered.
#include "engine/kernels/sve/pool_op.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::pool {

namespace {

/// One output row.
struct Window {
  const float* input;  // of the row's plane
  int64_t z, y;        // of tap (0, 0, 0)
  Range planes, rows;  // the taps that exist
};

Window window_of(const PoolArgs& args, const Row& row) {
  const PoolShape& s = args.shape;
  Window w{};
  w.input = args.input + row.plane * s.in.depth * s.in.height * s.in.width;
  w.z = row.z * s.stride.depth - s.pad.depth;
  w.y = row.y * s.stride.height - s.pad.height;
  w.planes = taps_inside(s.in.depth, s.kernel.depth, s.dilation.depth, w.z);
  w.rows = taps_inside(s.in.height, s.kernel.height, s.dilation.height, w.y);
  return w;
}

/// The inputs of outputs x ... x + kLanes - 1 for one kernel column.
struct Column {
  int64_t first;  // input column of lane 0
  vi positions;   // of every lane
  vb exists;
};

Column column_of(const PoolShape& s, int64_t x, int64_t kx) {
  const vb outputs = svwhilelt_b32(x, s.out.width);
  Column c{};
  c.first = x * s.stride.width - s.pad.width + kx * s.dilation.width;
  c.positions = svindex_s32(int32_t(c.first), int32_t(s.stride.width));
  const vb not_before = svcmpge(outputs, c.positions, svdup_s32(0));
  c.exists = svcmplt(not_before, c.positions, svdup_s32(int32_t(s.in.width)));
  return c;
}

/// Inactive lanes are 0.
vf load(const PoolShape& s, const Column& c, const float* row) {
  if (s.stride.width == 1) return svld1(c.exists, row + c.first);
  return svld1_gather_index(c.exists, row, c.positions);
}

const float* row_of_tap(const PoolShape& s, const Window& w, int64_t kz, int64_t ky) {
  return w.input + ((w.z + kz * s.dilation.depth) * s.in.height + w.y + ky * s.dilation.height) * s.in.width;
}

/// 1 / count, lane by lane.
vf scales(const PoolArgs& args, const Window& w, int64_t x) {
  const PoolShape& s = args.shape;
  const bool padding = args.count_padding;
  const int64_t above = counted(padding, s.in.depth, s.kernel.depth, s.dilation.depth, w.z, s.pad.depth, s.pad_end.depth) *
                        counted(padding, s.in.height, s.kernel.height, s.dilation.height, w.y, s.pad.height, s.pad_end.height);
  float counts[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    const int64_t start = (x + i) * s.stride.width - s.pad.width;
    const int64_t columns = counted(padding, s.in.width, s.kernel.width, s.dilation.width, start, s.pad.width, s.pad_end.width);
    counts[i] = static_cast<float>(above * columns);
  }
  return vrecip(svld1(svptrue_b32(), counts));
}

template <PoolKind kKind>
void run_vector(const PoolArgs& args, const Window& w, int64_t x, float* output) {
  const PoolShape& s = args.shape;
  vf result = svdup_f32(Op<kKind>::kStart);
  for (int64_t kz = w.planes.begin; kz < w.planes.end; ++kz)
    for (int64_t ky = w.rows.begin; ky < w.rows.end; ++ky)
      for (int64_t kx = 0; kx < s.kernel.width; ++kx) {
        const Column c = column_of(s, x, kx);
        const vf value = load(s, c, row_of_tap(s, w, kz, ky));
        result = svsel(c.exists, Op<kKind>::add(result, value, args.power), result);
      }
  vf scale = svdup_f32(1.0f);
  if (kKind == PoolKind::kAverage) scale = scales(args, w, x);
  svst1(svwhilelt_b32(x, s.out.width), output + x, Op<kKind>::end(result, scale, args.power));
}

template <PoolKind kKind>
void run_rows(const PoolArgs& args, int64_t begin, int64_t end) {
  const PoolShape& s = args.shape;
  for (int64_t task = begin; task < end; ++task) {
    const Window w = window_of(args, row_of(s, task));
    for (int64_t x = 0; x < s.out.width; x += kLanes) run_vector<kKind>(args, w, x, args.output + task * s.out.width);
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

void run_indexed_vector(const PoolArgs& args, const Window& w, const IndexSteps& steps, int64_t plane, int64_t x, int64_t at) {
  const PoolShape& s = args.shape;
  const vb all = svptrue_b32();
  vf best = svdup_f32(Op<PoolKind::kMax>::kStart);
  vi where = svdup_s32(0);
  vb found = svpfalse_b();
  for (int64_t kz = w.planes.begin; kz < w.planes.end; ++kz)
    for (int64_t ky = w.rows.begin; ky < w.rows.end; ++ky)
      for (int64_t kx = 0; kx < s.kernel.width; ++kx) {
        const Column c = column_of(s, x, kx);
        const vf value = load(s, c, row_of_tap(s, w, kz, ky));
        const int64_t row = (w.z + kz * s.dilation.depth) * steps.depth + (w.y + ky * s.dilation.height) * steps.height;
        const vi columns = svmul_x(all, c.positions, svdup_s32(int32_t(steps.width)));
        const vi index = svadd_x(all, columns, svdup_s32(int32_t(row)));
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
  for (int64_t task = begin; task < end; ++task) {
    const Row row = row_of(s, task);
    const Window w = window_of(args, row);
    for (int64_t x = 0; x < s.out.width; x += kLanes) run_indexed_vector(args, w, steps, row.plane, x, task * s.out.width);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::pool
