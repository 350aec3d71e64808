// Images to columns and back. A row of columns is one tap's inputs for all outputs; within one output row they are neighbours in
// the image, `stride` apart.
#include "engine/kernels/sve/gradient/kernels.h"
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/tasks.h"
#include "engine/kernels/sve/window.h"
#include "engine/kernels/window_grad.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

int64_t volume(const Extent& e) { return e.depth * e.height * e.width; }

/// One tap: where it lies relative to an output, and for which outputs it exists.
struct Tap {
  int64_t z, y, x;
  window::Range planes, rows, columns;
};

Tap tap_of(const PoolShape& s, int64_t t) {
  const int64_t kz = t / (s.kernel.width * s.kernel.height), ky = t / s.kernel.width % s.kernel.height, kx = t % s.kernel.width;
  Tap tap{kz * s.dilation.depth - s.pad.depth,
          ky * s.dilation.height - s.pad.height,
          kx * s.dilation.width - s.pad.width,
          {},
          {},
          {}};
  tap.planes = window::outputs_inside(s.in.depth, s.out.depth, s.stride.depth, tap.z);
  tap.rows = window::outputs_inside(s.in.height, s.out.height, s.stride.height, tap.y);
  tap.columns = window::outputs_inside(s.in.width, s.out.width, s.stride.width, tap.x);
  return tap;
}

/// Where output row (z, y) finds its tap's row in the image.
int64_t image_row(const PoolShape& s, const Tap& tap, int64_t z, int64_t y) {
  return ((z * s.stride.depth + tap.z) * s.in.height + y * s.stride.height + tap.y) * s.in.width;
}

vi every(int64_t stride) { return svindex_s32(0, int32_t(stride)); }

void fill_zero(float* to, int64_t n) {
  for_each_vector<4>(n, [to](int64_t i, vb p) SVENGINE_INLINE_LAMBDA { svst1(p, to + i, vdup(0.0f)); });
}

/// to[i] = from[i * stride]
void take_row(const float* from, int64_t stride, float* to, int64_t n) {
  if (stride == 1)
    for_each_vector<4>(n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA { svst1(p, to + i, svld1(p, from + i)); });
  else
    for_each_vector<4>(n, [=, index = every(stride)](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
      svst1(p, to + i, svld1_gather_index(p, from + i * stride, index));
    });
}

/// to[i * stride] += from[i]
void add_row(const float* from, float* to, int64_t stride, int64_t n) {
  if (stride == 1)
    for_each_vector<4>(
        n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA { svst1(p, to + i, vadd(svld1(p, to + i), svld1(p, from + i))); });
  else
    for_each_vector<4>(n, [=, index = every(stride)](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
      const vf sum = vadd(svld1_gather_index(p, to + i * stride, index), svld1(p, from + i));
      svst1_scatter_index(p, to + i * stride, index, sum);
    });
}

void unfold_row(const PoolShape& s, const Tap& tap, const float* image, float* columns) {
  for (int64_t z = 0; z < s.out.depth; ++z)
    for (int64_t y = 0; y < s.out.height; ++y, columns += s.out.width) {
      const bool exists = z >= tap.planes.begin && z < tap.planes.end && y >= tap.rows.begin && y < tap.rows.end;
      const int64_t begin = exists ? tap.columns.begin : s.out.width, end = exists ? tap.columns.end : s.out.width;
      fill_zero(columns, begin);
      if (end > begin)
        take_row(image + image_row(s, tap, z, y) + begin * s.stride.width + tap.x, s.stride.width, columns + begin, end - begin);
      fill_zero(columns + end, s.out.width - end);
    }
}

void fold_row(const PoolShape& s, const Tap& tap, const float* columns, float* image) {
  const int64_t begin = tap.columns.begin, count = tap.columns.end - begin;
  for (int64_t z = tap.planes.begin; z < tap.planes.end; ++z)
    for (int64_t y = tap.rows.begin; y < tap.rows.end; ++y)
      add_row(columns + (z * s.out.height + y) * s.out.width + begin,
              image + image_row(s, tap, z, y) + begin * s.stride.width + tap.x, s.stride.width, count);
}

/// Which output of `count` has tap offset `tap` at place `at` of an axis; -1: none.
int64_t output_at(int64_t at, int64_t tap, int64_t stride, int64_t count) {
  const int64_t from = at - tap, output = stride == 1 ? from : from / stride;
  return from < 0 || output >= count || output * stride != from ? -1 : output;
}

/// kVectors vectors of an image's row from column i on, for a stride of 1 along the row: what all taps add to them, in the order in which fold_row
/// would, but added up in registers. Taps of one row of the kernel read neighbouring rows of columns, shifted by one another.
template <int kVectors>
SVENGINE_INLINE void fold_to(const PoolShape& s, const float* columns, int64_t z, int64_t y, int64_t i, float* to) {
  const int64_t out = volume(s.out);
  vf sum[kVectors];
  SVENGINE_UNROLL
  for (vf& v : sum) v = vdup(0.0f);
  for (int64_t kz = 0; kz < s.kernel.depth; ++kz) {
    const int64_t oz = output_at(z, kz * s.dilation.depth - s.pad.depth, s.stride.depth, s.out.depth);
    if (oz < 0) continue;
    for (int64_t ky = 0; ky < s.kernel.height; ++ky) {
      const int64_t oy = output_at(y, ky * s.dilation.height - s.pad.height, s.stride.height, s.out.height);
      if (oy < 0) continue;
      const float* from = columns + (kz * s.kernel.height + ky) * s.kernel.width * out + (oz * s.out.height + oy) * s.out.width;
      for (int64_t kx = 0; kx < s.kernel.width; ++kx, from += out) {
        const int64_t first = i - (kx * s.dilation.width - s.pad.width);  // the output that lane 0 takes
        SVENGINE_UNROLL
        for (int u = 0; u < kVectors; ++u) {
          const int64_t o = first + u * kLanes;
          vb p = svwhilelt_b32(o, s.out.width);
          if (o < 0) p = svbic_z(svptrue_b32(), p, svwhilelt_b32(int64_t{0}, -o));
          sum[u] = vadd(sum[u], svld1(p, from + o));
        }
      }
    }
  }
  SVENGINE_UNROLL
  for (int u = 0; u < kVectors; ++u) svst1(svwhilelt_b32(i + u * kLanes, s.in.width), to + i + u * kLanes, sum[u]);
}

void fold_rows(const PoolShape& s, const float* columns, float* image) {
  for (int64_t z = 0; z < s.in.depth; ++z)
    for (int64_t y = 0; y < s.in.height; ++y, image += s.in.width) {
      int64_t i = 0;
      for (; i + kLanes < s.in.width; i += 2 * kLanes) fold_to<2>(s, columns, z, y, i, image);
      if (i < s.in.width) fold_to<1>(s, columns, z, y, i, image);
    }
}

TaskPartition unfold_cut(const UnfoldArgs& args) {
  return TaskPartition(args.shape.batch * args.shape.channels * volume(args.shape.kernel), volume(args.shape.out));
}

TaskPartition fold_cut(const FoldArgs& args) {
  return TaskPartition(args.shape.batch * args.shape.channels,
                 volume(args.shape.in) + volume(args.shape.kernel) * volume(args.shape.out));
}

}  // namespace

int64_t unfold_tasks(const UnfoldArgs& args) noexcept { return volume(args.shape.out) > 0 ? unfold_cut(args).tasks() : 0; }

void unfold_run(const UnfoldArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = unfold_cut(args);
  const int64_t taps = volume(args.shape.kernel), in = volume(args.shape.in), out = volume(args.shape.out);
  for (int64_t row = partition.begin(begin); row < partition.begin(end); ++row)
    unfold_row(args.shape, tap_of(args.shape, row % taps), args.x + row / taps * in, args.columns + row * out);
}

int64_t fold_tasks(const FoldArgs& args) noexcept { return fold_cut(args).tasks(); }

void fold_run(const FoldArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = fold_cut(args);
  const int64_t taps = volume(args.shape.kernel), in = volume(args.shape.in), out = volume(args.shape.out);
  for (int64_t plane = partition.begin(begin); plane < partition.begin(end); ++plane) {
    float* dx = args.dx + plane * in;
    if (args.shape.stride.width == 1) {
      fold_rows(args.shape, args.columns + plane * taps * out, dx);
      continue;
    }
    fill_zero(dx, in);
    for (int64_t t = 0; t < taps; ++t) fold_row(args.shape, tap_of(args.shape, t), args.columns + (plane * taps + t) * out, dx);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
