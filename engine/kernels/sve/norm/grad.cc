// Backward passes of layer norm and batch norm; norm_grad.h has the formulas.
#include "engine/kernels/norm_grad.h"

#include "engine/kernels/sve/gradient/kernels.h"
#include "engine/kernels/sve/pixel_sums.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

/// One row: two sums, then dx.
void row_dx(const RowNormGradArgs& args, int64_t row) {
  const float *x = args.x + row * args.n, *dy = args.dy + row * args.n, *scale = args.scale;
  float* dx = args.dx + row * args.n;
  const vf mean = vdup(args.mean[row]), inv_std = vdup(args.inv_std[row]);
  float sums[2];
  line_sums<4, 2>(args.n, sums, [&](int64_t i, vb p, vf(&v)[2]) SVENGINE_INLINE_LAMBDA {
    v[0] = vmul(svld1(p, dy + i), svld1(p, scale + i));
    v[1] = vmul(v[0], vmul(vsub(svld1(p, x + i), mean), inv_std));
  });
  const double share = 1.0 / double(args.n);
  const vf g_mean = vdup(float(sums[0] * share)), gh_mean = vdup(float(sums[1] * share));
  for_each_vector<4>(args.n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf h = vmul(vsub(svld1(p, x + i), mean), inv_std);
    const vf g = vmul(svld1(p, dy + i), svld1(p, scale + i));
    svst1(p, dx + i, vmul(vfnma(h, gh_mean, vsub(g, g_mean)), inv_std));
  });
}

/// sums[0] += dy h, sums[1] += dy, column by column; the first row stores.
void add_row(const RowNormGradArgs& args, int64_t row, float* dscale, float* dbias, bool first) {
  const float *x = args.x + row * args.n, *dy = args.dy + row * args.n;
  const vf mean = vdup(args.mean[row]), inv_std = vdup(args.inv_std[row]);
  for_each_vector<4>(args.n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf d = svld1(p, dy + i), h = vmul(vsub(svld1(p, x + i), mean), inv_std);
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
TaskPartition plane_cut(const Args& args) {
  return TaskPartition(args.batch * planes(args), plane_floats(args));
}

/// The Relu behind the norm, and from what its derivative is seen.
enum class Relu { kNone, kFromNorm, kFromResult, kFromResultOfTwo };

Relu relu_of(const ChannelGradSumsArgs& args) {
  if (args.y) return args.dy_more ? Relu::kFromResultOfTwo : Relu::kFromResult;
  return args.scale ? Relu::kFromNorm : Relu::kNone;
}

/// dy where the Relu's result is positive or NaN.
SVENGINE_INLINE vf passed(vf dy, vf result) { return vsel(vle(result, vdup(0.0f)), vdup(0.0f), dy); }

/// The per-channel numbers of a plane: of its channel in all lanes, or of the lanes' channels.
SVENGINE_INLINE vf of_plane(const float* table, bool blocked, int64_t c, int64_t channels) {
  return blocked ? vf(svld1(svwhilelt_b32(c, channels), table + c)) : vdup(table[c]);
}

/// Sums over one plane, which starts `at` floats into the tensors; its first channel is c. `sum(n, sums, f)` adds up what
/// f(float to begin at, predicate, values) gives.
template <Relu kRelu, class Sum>
SVENGINE_INLINE void plane_sums(const ChannelGradSumsArgs& args, int64_t at, int64_t c, const Sum& sum) {
  constexpr bool kResult = kRelu == Relu::kFromResult || kRelu == Relu::kFromResultOfTwo;
  const float *x = args.x + at, *dy = args.dy + at;
  [[maybe_unused]] const float* y = args.y + (kResult ? at : 0);
  [[maybe_unused]] const float* more = args.dy_more + (kRelu == Relu::kFromResultOfTwo ? at : 0);
  [[maybe_unused]] float* masked = args.masked + (kResult ? at : 0);
  const vf mean = of_plane(args.mean, args.blocked, c, args.channels);
  vf scale = mean, shift = mean;
  if constexpr (kRelu == Relu::kFromNorm) {
    scale = of_plane(args.scale, args.blocked, c, args.channels);
    shift = of_plane(args.shift, args.blocked, c, args.channels);
  }
  sum([&](int64_t i, vb p, vf(&v)[2]) SVENGINE_INLINE_LAMBDA {
    const vf in = svld1(p, x + i);
    v[0] = svld1(p, dy + i);
    if constexpr (kRelu == Relu::kFromNorm) v[0] = passed(v[0], vfma(in, scale, shift));
    if constexpr (kRelu == Relu::kFromResultOfTwo) v[0] = vadd(v[0], svld1(p, more + i));
    if constexpr (kResult) {
      v[0] = passed(v[0], svld1(p, y + i));
      svst1(p, masked + i, v[0]);
    }
    v[1] = vmul(v[0], vsub(in, mean));
  });
}

template <Relu kRelu>
void plain_sums(const ChannelGradSumsArgs& args, int64_t at, int64_t c, float* to) {
  float sums[2];
  plane_sums<kRelu>(args, at, c, [&](const auto& f) SVENGINE_INLINE_LAMBDA { line_sums<4, 2>(args.spatial, sums, f); });
  to[0] = sums[1] * args.inv_std[c];
  to[args.channels] = sums[0];
}

template <Relu kRelu>
void blocked_sums(const ChannelGradSumsArgs& args, int64_t at, int64_t c, float* to) {
  const vb all = svptrue_b32();
  vf sums[2];
  plane_sums<kRelu>(args, at, c, [&](const auto& f) SVENGINE_INLINE_LAMBDA {
    pixel_sums<2>(args.spatial, sums, [&](int64_t i, vf(&v)[2]) SVENGINE_INLINE_LAMBDA { f(i * kLanes, all, v); });
  });
  svst1(all, to, vmul(sums[1], of_plane(args.inv_std, true, c, args.channels)));
  svst1(all, to + planes(args) * kLanes, sums[0]);
}

template <Relu kRelu>
void sums_of_planes(const ChannelGradSumsArgs& args, int64_t begin, int64_t end) {
  const int64_t per_image = planes(args), n = plane_floats(args), width = args.blocked ? kLanes : 1;
  for (int64_t plane = begin; plane < end; ++plane) {
    const int64_t image = plane / per_image, i = plane % per_image;
    float* to = args.sums + (image * 2 * per_image + i) * width;
    if (args.blocked)
      blocked_sums<kRelu>(args, plane * n, i * width, to);
    else
      plain_sums<kRelu>(args, plane * n, i, to);
  }
}

template <bool kRelu>
void dx_of_planes(const ChannelGradArgs& args, int64_t begin, int64_t end) {
  const int64_t per_image = planes(args), n = plane_floats(args);
  for (int64_t plane = begin; plane < end; ++plane) {
    const int64_t c = plane % per_image * (args.blocked ? kLanes : 1);
    const float *x = args.x + plane * n, *dy = args.dy + plane * n;
    float* dx = args.dx + plane * n;
    const vf a = of_plane(args.a, args.blocked, c, args.channels), b = of_plane(args.b, args.blocked, c, args.channels);
    const vf k = of_plane(args.k, args.blocked, c, args.channels);
    vf scale = a, shift = a;
    if constexpr (kRelu) {
      scale = of_plane(args.scale, args.blocked, c, args.channels);
      shift = of_plane(args.shift, args.blocked, c, args.channels);
    }
    for_each_vector<4>(n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
      const vf in = svld1(p, x + i);
      vf d = svld1(p, dy + i);
      if constexpr (kRelu) d = passed(d, vfma(in, scale, shift));
      svst1(p, dx + i, vfma(a, d, vfma(b, in, k)));
    });
  }
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
  const TaskPartition partition = plane_cut(args);
  const int64_t first = partition.begin(begin), last = partition.begin(end);
  switch (relu_of(args)) {
    case Relu::kNone: return sums_of_planes<Relu::kNone>(args, first, last);
    case Relu::kFromNorm: return sums_of_planes<Relu::kFromNorm>(args, first, last);
    case Relu::kFromResult: return sums_of_planes<Relu::kFromResult>(args, first, last);
    case Relu::kFromResultOfTwo: return sums_of_planes<Relu::kFromResultOfTwo>(args, first, last);
  }
}

int64_t channel_grad_tasks(const ChannelGradArgs& args) noexcept { return plane_cut(args).tasks(); }

void channel_grad_run(const ChannelGradArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = plane_cut(args);
  const int64_t first = partition.begin(begin), last = partition.begin(end);
  if (args.scale)
    dx_of_planes<true>(args, first, last);
  else
    dx_of_planes<false>(args, first, last);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
