// Windows on plain layouts, forward and backward: a vector is kLanes neighbouring outputs of a row. For each kernel column a
// predicate says which lanes' inputs exist; with stride 1 they are loaded, else gathered.
#pragma once
#include "engine/kernels/sve/pool/op.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::pool {

/// One output row.
struct Window {
  const float* input;  // of the row's plane
  int64_t z, y;        // of tap (0, 0, 0)
  Range planes, rows;  // the taps that exist
  int64_t rows_counted;  // kAverage: positions in depth and height
};

inline Window window_of(const PoolArgs& args, const Row& row) {
  const PoolShape& s = args.shape;
  Window w{};
  w.input = args.input + row.plane * s.in.depth * s.in.height * s.in.width;
  w.z = row.z * s.stride.depth - s.pad.depth;
  w.y = row.y * s.stride.height - s.pad.height;
  w.planes = taps_inside(s.in.depth, s.kernel.depth, s.dilation.depth, w.z);
  w.rows = taps_inside(s.in.height, s.kernel.height, s.dilation.height, w.y);
  if (args.kind == PoolKind::kAverage)
    w.rows_counted = counted(args.count_padding, s.in.depth, s.kernel.depth, s.dilation.depth, w.z, s.pad.depth, s.pad_end.depth) *
                     counted(args.count_padding, s.in.height, s.kernel.height, s.dilation.height, w.y, s.pad.height, s.pad_end.height);
  return w;
}

/// The inputs of outputs x ... x + kLanes - 1 for one kernel column.
struct Column {
  int64_t first;  // input column of lane 0
  vi positions;   // of every lane
  vb exists;
};

inline Column column_of(const PoolShape& s, int64_t x, int64_t kx) {
  const vb outputs = svwhilelt_b32(x, s.out.width);
  Column c{};
  c.first = x * s.stride.width - s.pad.width + kx * s.dilation.width;
  c.positions = svindex_s32(int32_t(c.first), int32_t(s.stride.width));
  const vb not_before = svcmpge(outputs, c.positions, svdup_s32(0));
  c.exists = svcmplt(not_before, c.positions, svdup_s32(int32_t(s.in.width)));
  return c;
}

/// The kernel columns that some output of a row has inside the image: a kernel may be far larger than what it is padded with zeros for.
inline Range columns_of_row(const PoolShape& s) {
  const int64_t first = -s.pad.width, last = (s.out.width - 1) * s.stride.width - s.pad.width;
  return {taps_inside(s.in.width, s.kernel.width, s.dilation.width, last).begin,
          taps_inside(s.in.width, s.kernel.width, s.dilation.width, first).end};
}

/// Inactive lanes are 0.
SVENGINE_INLINE vf load(const PoolShape& s, const Column& c, const float* row) {
  if (s.stride.width == 1) return svld1(c.exists, row + c.first);
  return svld1_gather_index(c.exists, row, c.positions);
}

inline const float* row_of_tap(const PoolShape& s, const Window& w, int64_t kz, int64_t ky) {
  return w.input + ((w.z + kz * s.dilation.depth) * s.in.height + w.y + ky * s.dilation.height) * s.in.width;
}

/// Positions of a row that kAverage counts, of outputs begin ... begin + outputs - 1.
inline void count_columns(const PoolArgs& args, int64_t begin, int64_t outputs, float* counts) {
  const PoolShape& s = args.shape;
  for (int64_t i = 0; i < outputs; ++i)
    counts[i] = static_cast<float>(counted(args.count_padding, s.in.width, s.kernel.width, s.dilation.width,
                                           (begin + i) * s.stride.width - s.pad.width, s.pad.width, s.pad_end.width));
}

/// 1 / count, lane by lane; `columns`: from count_columns.
SVENGINE_INLINE vf scales_of(const float* columns, int64_t rows) {
  return vrecip(vmul(svld1(svptrue_b32(), columns), svdup_f32(float(rows))));
}

inline vf scales(const PoolArgs& args, const Window& w, int64_t x) {
  float columns[kLanes];
  count_columns(args, x, kLanes, columns);
  return scales_of(columns, w.rows_counted);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::pool
