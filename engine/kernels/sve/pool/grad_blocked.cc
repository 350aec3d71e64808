// Gradients of max and average pooling in NCHWc: a vector is the channels of one position, so that an output's shares go to one
// input after the other, without gathers. The order of a sum is that of the plain kernels.
#include "engine/kernels/sve/pool/grad_blocked.h"

#include "engine/kernels/sve/pool/op.h"
#include "engine/kernels/sve/reduction_loops.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::pool {

namespace {

/// The taps of one output that exist, and where the window's first tap lies.
struct Taps {
  Range planes, rows, columns;
  int64_t z, y, x;
};

Taps taps_of(const PoolShape& s, int64_t z, int64_t y, int64_t x) {
  Taps t{};
  t.z = z * s.stride.depth - s.pad.depth;
  t.y = y * s.stride.height - s.pad.height;
  t.x = x * s.stride.width - s.pad.width;
  t.planes = taps_inside(s.in.depth, s.kernel.depth, s.dilation.depth, t.z);
  t.rows = taps_inside(s.in.height, s.kernel.height, s.dilation.height, t.y);
  t.columns = taps_inside(s.in.width, s.kernel.width, s.dilation.width, t.x);
  return t;
}

/// visit(tap, position in the plane, in floats).
template <class F>
SVENGINE_INLINE void for_taps(const PoolShape& s, const Taps& t, const F& visit) {
  for (int64_t kz = t.planes.begin; kz < t.planes.end; ++kz)
    for (int64_t ky = t.rows.begin; ky < t.rows.end; ++ky) {
      const int64_t row = (t.z + kz * s.dilation.depth) * s.in.height + t.y + ky * s.dilation.height;
      for (int64_t kx = t.columns.begin; kx < t.columns.end; ++kx)
        visit(int32_t((kz * s.kernel.height + ky) * s.kernel.width + kx),
              (row * s.in.width + t.x + kx * s.dilation.width) * kLanes);
    }
}

/// The tap of each channel's first maximum, or first NaN; -1 for an empty window.
SVENGINE_INLINE vi first_maxima(const PoolShape& s, const Taps& t, const float* x) {
  const vb all = svptrue_b32();
  vf best = vdup(0.0f);
  vi which = vdup_int(-1);
  for_taps(s, t, [&](int32_t tap, int64_t at) SVENGINE_INLINE_LAMBDA {
    const vf value = svld1(all, x + at);
    const vb first = svcmpeq(all, which, vdup_int(-1));
    // Larger, or a NaN after numbers.
    const vb ordered = svcmpeq(all, best, best);
    const vb better = svorr_z(all, first, svnot_z(ordered, svcmple(ordered, value, best)));
    best = svsel(better, value, best);
    which = svsel(better, vdup_int(tap), which);
  });
  return which;
}

SVENGINE_INLINE void max_output(const PoolShape& s, const Taps& t, const float* x, vf dy, float* dx) {
  const vb all = svptrue_b32();
  const vi which = first_maxima(s, t, x);
  for_taps(s, t, [&](int32_t tap, int64_t at) SVENGINE_INLINE_LAMBDA {
    const vb here = svcmpeq(all, which, vdup_int(tap));
    svst1(here, dx + at, vadd(svld1(here, dx + at), dy));
  });
}

SVENGINE_INLINE void average_output(const PoolGradArgs& args, const Taps& t, vf dy, float* dx) {
  const PoolShape& s = args.shape;
  const vb all = svptrue_b32();
  const int64_t count =
      counted(args.count_padding, s.in.depth, s.kernel.depth, s.dilation.depth, t.z, s.pad.depth, s.pad_end.depth) *
      counted(args.count_padding, s.in.height, s.kernel.height, s.dilation.height, t.y, s.pad.height, s.pad_end.height) *
      counted(args.count_padding, s.in.width, s.kernel.width, s.dilation.width, t.x, s.pad.width, s.pad_end.width);
  const vf share = vmul(dy, vdup(1.0f / static_cast<float>(count)));
  for_taps(s, t, [&](int32_t, int64_t at) SVENGINE_INLINE_LAMBDA { svst1(all, dx + at, vadd(svld1(all, dx + at), share)); });
}

}  // namespace

void grad_blocked_plane(const PoolGradArgs& args, int64_t plane) {
  const PoolShape& s = args.shape;
  const int64_t in = s.in.depth * s.in.height * s.in.width * kLanes;
  float* dx = args.dx + plane * in;
  const float* dy = args.dy + plane * s.out.depth * s.out.height * s.out.width * kLanes;
  for_each_vector<4>(in, [dx](int64_t i, vb p) SVENGINE_INLINE_LAMBDA { svst1(p, dx + i, vdup(0.0f)); });
  for (int64_t z = 0; z < s.out.depth; ++z)
    for (int64_t y = 0; y < s.out.height; ++y)
      for (int64_t x = 0; x < s.out.width; ++x, dy += kLanes) {
        const Taps taps = taps_of(s, z, y, x);
        const vf share = svld1(svptrue_b32(), dy);
        if (args.kind == PoolKind::kMax)
          max_output(s, taps, args.x + plane * in, share, dx);
        else
          average_output(args, taps, share, dx);
      }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::pool
