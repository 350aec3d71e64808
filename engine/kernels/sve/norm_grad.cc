// Backward passes of layer norm and batch norm; norm_grad.h has the formulas.
#include "engine/kernels/norm_grad.h"

#include "engine/kernels/sve/gradient_kernels.h"
#include "engine/kernels/sve/pixel_sums.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

/// One row: two sums, then dx.
void row_dx(const RowNormGradArgs& args, int64_t row) {
  const float *x = args.x + row * args.n, *dy = args.dy + row * args.n, *scale = args.scale;
  float* dx = args.dx + row * args.n;
  const vf mean = vdup(args.mean[row]), spread = vdup(args.inv_std[row]);
  float sums[2];
  line_sums<4, 2>(args.n, sums, [&](int64_t i, vb p, vf(&v)[2]) SVENGINE_INLINE_LAMBDA {
    v[0] = vmul(svld1(p, dy + i), svld1(p, scale + i));
    v[1] = vmul(v[0], vmul(vsub(svld1(p, x + i), mean), spread));
  });
  const double share = 1.0 / double(args.n);
  const vf g_mean = vdup(float(sums[0] * share)), gh_mean = vdup(float(sums[1] * share));
  for_each_vector<4>(args.n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf h = vmul(vsub(svld1(p, x + i), mean), spread);
    const vf g = vmul(svld1(p, dy + i), svld1(p, scale + i));
    svst1(p, dx + i, vmul(vfnma(h, gh_mean, vsub(g, g_mean)), spread));
  });
}

/// sums[0] += dy h, sums[1] += dy, column by column; the first row stores.
void add_row(const RowNormGradArgs& args, int64_t row, float* dscale, float* dbias, bool first) {
  const float *x = args.x + row * args.n, *dy = args.dy + row * args.n;
  const vf mean = vdup(args.mean[row]), spread = vdup(args.inv_std[row]);
  for_each_vector<4>(args.n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf d = svld1(p, dy + i), h = vmul(vsub(svld1(p, x + i), mean), spread);
    const vf before = first ? vdup(0.0f) : vf(svld1(p, dscale + i));
    const vf before_bias = first ? vdup(0.0f) : vf(svld1(p, dbias + i));
    svst1(p, dscale + i, vfma(d, h, before));
    svst1(p, dbias + i, vadd(before_bias, d));
  });
}

// A plane is a channel of an image: `spatial` values, or `spatial` vectors where the layout is blocked.
template <class Args>
int64_t planes(const Args& args) {
  return args.blocked ? ceil_div(args.channels, kLanes) : args.channels;
}

template <class Args>
int64_t plane_floats(const Args& args) {
  return args.blocked ? args.spatial * kLanes : args.spatial;
}

template <class Args>
TaskCut plane_cut(const Args& args) {
  return TaskCut(args.batch * planes(args), plane_floats(args));
}

void plain_sums(const ChannelGradSumsArgs& args, const float* x, const float* dy, int64_t c, float* to) {
  const vf mean = vdup(args.mean[c]);
  float sums[2];
  line_sums<4, 2>(args.spatial, sums, [&](int64_t i, vb p, vf(&v)[2]) SVENGINE_INLINE_LAMBDA {
    v[0] = svld1(p, dy + i);
    v[1] = vmul(v[0], vsub(svld1(p, x + i), mean));
  });
  to[0] = sums[1] * args.inv_std[c];
  to[args.channels] = sums[0];
}

void blocked_sums(const ChannelGradSumsArgs& args, const float* x, const float* dy, int64_t block, float* to) {
  const vb all = svptrue_b32(), lanes = svwhilelt_b32(block * kLanes, args.channels);
  const vf mean = svld1(lanes, args.mean + block * kLanes), spread = svld1(lanes, args.inv_std + block * kLanes);
  vf sums[2];
  pixel_sums<2>(args.spatial, sums, [&](int64_t i, vf(&v)[2]) SVENGINE_INLINE_LAMBDA {
    v[0] = svld1(all, dy + i * kLanes);
    v[1] = vmul(v[0], vsub(svld1(all, x + i * kLanes), mean));
  });
  svst1(all, to, vmul(sums[1], spread));
  svst1(all, to + planes(args) * kLanes, sums[0]);
}

}  // namespace

int64_t row_norm_grad_tasks(const RowNormGradArgs& args) noexcept { return ceil_div(args.rows, args.rows_each); }

void row_norm_grad_run(const RowNormGradArgs& args, int64_t begin, int64_t end, void*) noexcept {
  for (int64_t task = begin; task < end; ++task) {
    const int64_t first = task * args.rows_each, last = smaller(args.rows, first + args.rows_each);
    for (int64_t row = first; row < last; ++row) {
      // The sums first: dx may be dy.
      float* sums = args.partial + task * 2 * args.n;
      if (args.partial) add_row(args, row, sums, sums + args.n, row == first);
      if (args.dx) row_dx(args, row);
    }
  }
}

int64_t channel_grad_sums_tasks(const ChannelGradSumsArgs& args) noexcept { return plane_cut(args).tasks(); }

void channel_grad_sums_run(const ChannelGradSumsArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskCut cut = plane_cut(args);
  const int64_t per_image = planes(args), n = plane_floats(args), width = args.blocked ? kLanes : 1;
  for (int64_t plane = cut.begin(begin); plane < cut.begin(end); ++plane) {
    const int64_t image = plane / per_image, i = plane % per_image;
    float* to = args.sums + (image * 2 * per_image + i) * width;
    if (args.blocked)
      blocked_sums(args, args.x + plane * n, args.dy + plane * n, i, to);
    else
      plain_sums(args, args.x + plane * n, args.dy + plane * n, i, to);
  }
}

int64_t channel_grad_tasks(const ChannelGradArgs& args) noexcept { return plane_cut(args).tasks(); }

void channel_grad_run(const ChannelGradArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskCut cut = plane_cut(args);
  const int64_t per_image = planes(args), n = plane_floats(args);
  for (int64_t plane = cut.begin(begin); plane < cut.begin(end); ++plane) {
    const int64_t c = plane % per_image * (args.blocked ? kLanes : 1);
    const float *x = args.x + plane * n, *dy = args.dy + plane * n;
    float* dx = args.dx + plane * n;
    const vb lanes = svwhilelt_b32(c, args.channels);
    const vf a = args.blocked ? vf(svld1(lanes, args.a + c)) : vdup(args.a[c]);
    const vf b = args.blocked ? vf(svld1(lanes, args.b + c)) : vdup(args.b[c]);
    const vf k = args.blocked ? vf(svld1(lanes, args.k + c)) : vdup(args.k[c]);
    for_each_vector<4>(n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
      svst1(p, dx + i, vfma(a, svld1(p, dy + i), vfma(b, svld1(p, x + i), k)));
    });
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
