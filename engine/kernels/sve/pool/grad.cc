// Gradients of max and average pooling on plain layouts. A vector of dy belongs to neighbouring outputs; for one tap the inputs of its lanes
// differ, so that a tap's shares can be added to the image lane by lane without meeting:
//
//     outputs   o0 o1 o2 o3                for every tap t:  dx[in(o, t)] += share(o, t)
//     inputs    .x.x.x.x.   (stride 2)     max: share = dy where t is the lane's first maximum; average: dy / count
#include "engine/kernels/sve/gradient/kernels.h"
#include "engine/kernels/sve/pool/grad_blocked.h"
#include "engine/kernels/sve/pool/window.h"
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/tasks.h"
#include "engine/kernels/window_grad.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

using namespace pool;

int64_t volume(const Extent& e) { return e.depth * e.height * e.width; }

/// row[positions] += v in the lanes of `some`.
SVENGINE_INLINE void add_at(const PoolShape& s, const Column& c, vb some, float* row, vf v) {
  if (s.stride.width == 1)
    svst1(some, row + c.first, vadd(svld1(some, row + c.first), v));
  else
    svst1_scatter_index(some, row, c.positions, vadd(svld1_gather_index(some, row, c.positions), v));
}

/// visit(tap, row in the window's image, column) for all taps of a vector of outputs.
template <class F>
SVENGINE_INLINE void for_taps(const PoolShape& s, const Window& w, int64_t x, const F& visit) {
  for (int64_t kz = w.planes.begin; kz < w.planes.end; ++kz)
    for (int64_t ky = w.rows.begin; ky < w.rows.end; ++ky)
      for (int64_t kx = 0; kx < s.kernel.width; ++kx)
        visit(int32_t((kz * s.kernel.height + ky) * s.kernel.width + kx), row_of_tap(s, w, kz, ky), column_of(s, x, kx));
}

/// The tap of each lane's first maximum, or first NaN; -1 for an empty window.
vi first_maxima(const PoolShape& s, const Window& w, int64_t x) {
  vf best = vdup(-kInfinity);
  vi which = vdup_int(-1);
  for_taps(s, w, x, [&](int32_t tap, const float* row, const Column& c) SVENGINE_INLINE_LAMBDA {
    const vf value = load(s, c, row);
    const vb first = svcmpeq(c.exists, which, vdup_int(-1));
    // Larger, or a NaN after numbers.
    const vb ordered = svcmpeq(c.exists, best, best);
    const vb larger = svnot_z(ordered, svcmple(ordered, value, best));
    const vb better = svorr_z(svptrue_b32(), first, larger);
    best = svsel(better, value, best);
    which = svsel(better, vdup_int(tap), which);
  });
  return which;
}

void max_vector(const PoolShape& s, const Window& w, int64_t x, vf dy, float* dx) {
  const vi which = first_maxima(s, w, x);
  for_taps(s, w, x, [&](int32_t tap, const float* row, const Column& c) SVENGINE_INLINE_LAMBDA {
    const vb here = svcmpeq(c.exists, which, vdup_int(tap));
    if (svptest_any(svptrue_b32(), here)) add_at(s, c, here, dx + (row - w.input), dy);
  });
}

void average_vector(const PoolShape& s, const Window& w, int64_t x, vf share, float* dx) {
  for_taps(s, w, x, [&](int32_t, const float* row, const Column& c) SVENGINE_INLINE_LAMBDA {
    add_at(s, c, c.exists, dx + (row - w.input), share);
  });
}

void run_plane(const PoolGradArgs& args, const PoolArgs& window, int64_t plane) {
  const PoolShape& s = args.shape;
  const int64_t rows = s.out.depth * s.out.height, in = volume(s.in);
  float* dx = args.dx + plane * in;
  for_each_vector<4>(in, [dx](int64_t i, vb p) SVENGINE_INLINE_LAMBDA { svst1(p, dx + i, vdup(0.0f)); });
  for (int64_t row = plane * rows; row < (plane + 1) * rows; ++row) {
    const Window w = window_of(window, row_of(s, row));
    for (int64_t x = 0; x < s.out.width; x += kLanes) {
      const vf dy = svld1(svwhilelt_b32(x, s.out.width), args.dy + row * s.out.width + x);
      if (args.kind == PoolKind::kMax)
        max_vector(s, w, x, dy, dx);
      else
        average_vector(s, w, x, vmul(dy, scales(window, w, x)), dx);
    }
  }
}

/// A plane is a channel of an image, or a channel block.
TaskPartition partition_of(const PoolGradArgs& args) {
  const int64_t width = args.blocked ? kLanes : 1;
  return TaskPartition(args.shape.batch * window::ceil_div(args.shape.channels, width),
                 (volume(args.shape.in) + volume(args.shape.kernel) * volume(args.shape.out)) * width);
}

}  // namespace

int64_t pool_grad_tasks(const PoolGradArgs& args) noexcept { return volume(args.shape.in) > 0 ? partition_of(args).tasks() : 0; }

void pool_grad_run(const PoolGradArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = partition_of(args);
  // The average reads no input: its rows are only places, counted from dx.
  const PoolArgs window{.kind = args.kind,
                        .shape = args.shape,
                        .count_padding = args.count_padding,
                        .input = args.kind == PoolKind::kMax ? args.x : args.dx};
  for (int64_t plane = partition.begin(begin); plane < partition.begin(end); ++plane) {
    if (args.blocked)
      grad_blocked_plane(args, plane);
    else
      run_plane(args, window, plane);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
