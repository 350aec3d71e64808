// Backward passes of sliding windows by the formulas of window_grad.h: unfold, fold, pooling. What lands on one input is added up
// in double, plane by plane.
#include <cmath>

#include "engine/kernels/reference/set/gradient.h"
#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

Extent place(int64_t i, const Extent& e) { return {i / (e.width * e.height), i / e.width % e.height, i % e.width}; }
bool contains(const Extent& e, const Extent& at) {
  return at.depth >= 0 && at.depth < e.depth && at.height >= 0 && at.height < e.height && at.width >= 0 && at.width < e.width;
}

/// Where tap t of output o lies, in the image's coordinates.
Extent input_of(const PoolShape& s, int64_t o, int64_t t) {
  const Extent out = place(o, s.out), tap = place(t, s.kernel);
  return {out.depth * s.stride.depth - s.pad.depth + tap.depth * s.dilation.depth,
          out.height * s.stride.height - s.pad.height + tap.height * s.dilation.height,
          out.width * s.stride.width - s.pad.width + tap.width * s.dilation.width};
}
int64_t flat(const Extent& e, const Extent& at) { return (at.depth * e.height + at.height) * e.width + at.width; }

/// Positions that an average counts.
int64_t counted(const PoolGradArgs& args, int64_t o) {
  const PoolShape& s = args.shape;
  const Extent padded{s.in.depth + s.pad_end.depth, s.in.height + s.pad_end.height, s.in.width + s.pad_end.width};
  int64_t count = 0;
  for (int64_t t = 0; t < volume(s.kernel); ++t) {
    const Extent at = input_of(s, o, t);
    count +=
        args.count_padding ? at.depth < padded.depth && at.height < padded.height && at.width < padded.width : contains(s.in, at);
  }
  return count;
}

/// sums[input] += what output o's gradient gives each input of its window.
void add_window(const PoolGradArgs& args, const Plane& in, int64_t o, double dy, double* sums) {
  const PoolShape& s = args.shape;
  const double share = args.kind == PoolKind::kAverage ? dy / static_cast<double>(counted(args, o)) : dy;
  int64_t best = -1;
  for (int64_t t = 0; t < volume(s.kernel); ++t) {
    const Extent place_of_tap = input_of(s, o, t);
    if (!contains(s.in, place_of_tap)) continue;
    const int64_t at = flat(s.in, place_of_tap);
    if (args.kind == PoolKind::kAverage) {
      sums[at] += share;
      continue;
    }
    const auto x = [&](int64_t i) { return args.x[in.start + i * in.step]; };
    if (best < 0 || x(at) > x(best) || (std::isnan(x(at)) && !std::isnan(x(best)))) best = at;
  }
  if (best >= 0) sums[best] += dy;
}

}  // namespace

/// Planes and taps.
int64_t unfold_items(const UnfoldArgs& args) { return args.shape.batch * args.shape.channels * volume(args.shape.kernel); }

void unfold_range(const UnfoldArgs& args, int64_t begin, int64_t end, void*) {
  const PoolShape& s = args.shape;
  const int64_t taps = volume(s.kernel), out = volume(s.out);
  for (int64_t item = begin; item < end; ++item)
    for (int64_t o = 0; o < out; ++o) {
      const Extent at = input_of(s, o, item % taps);
      args.columns[item * out + o] = contains(s.in, at) ? args.x[item / taps * volume(s.in) + flat(s.in, at)] : 0.0f;
    }
}

int64_t fold_items(const FoldArgs& args) { return args.shape.batch * args.shape.channels; }
int64_t fold_scratch_bytes(const FoldArgs& args) noexcept { return volume(args.shape.in) * int64_t(sizeof(double)); }

void fold_range(const FoldArgs& args, int64_t begin, int64_t end, void* scratch) {
  const PoolShape& s = args.shape;
  const int64_t taps = volume(s.kernel), out = volume(s.out), in = volume(s.in);
  double* sums = static_cast<double*>(scratch);
  for (int64_t plane = begin; plane < end; ++plane) {
    std::fill(sums, sums + in, 0.0);
    for (int64_t o = 0; o < out; ++o)
      for (int64_t t = 0; t < taps; ++t)
        if (const Extent at = input_of(s, o, t); contains(s.in, at))
          sums[flat(s.in, at)] += double{args.columns[(plane * taps + t) * out + o]};
    for (int64_t i = 0; i < in; ++i) args.dx[plane * in + i] = static_cast<float>(sums[i]);
  }
}

int64_t pool_grad_items(const PoolGradArgs& args) {
  return args.shape.batch * stored_channels(args.blocked, args.shape.channels);
}
int64_t pool_grad_scratch_bytes(const PoolGradArgs& args) noexcept { return volume(args.shape.in) * int64_t(sizeof(double)); }

void pool_grad_range(const PoolGradArgs& args, int64_t begin, int64_t end, void* scratch) {
  const PoolShape& s = args.shape;
  const int64_t stored = stored_channels(args.blocked, s.channels);
  double* sums = static_cast<double*>(scratch);
  for (int64_t item = begin; item < end; ++item) {
    const Plane in = plane_of(args.blocked, item / stored, item % stored, s.channels, volume(s.in));
    const Plane out = plane_of(args.blocked, item / stored, item % stored, s.channels, volume(s.out));
    std::fill(sums, sums + volume(s.in), 0.0);
    for (int64_t o = 0; o < volume(s.out); ++o) add_window(args, in, o, double{args.dy[out.start + o * out.step]}, sums);
    for (int64_t i = 0; i < volume(s.in); ++i) args.dx[in.start + i * in.step] = static_cast<float>(sums[i]);
  }
}

}  // namespace svengine::kernels::reference
