// Pooling in float64: a row of outputs at a time where no indices are asked for.
#include "engine/kernels/pool.h"

#include <cmath>
#include <limits>

#include "engine/ops/wide/items.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops::wide {
namespace {

using kernels::Extent;
using kernels::PoolArgs;
using kernels::PoolKind;

int64_t pool_volume(const Extent& e) { return e.depth * e.height * e.width; }

// What joins one more element to what a window has seen so far.
struct LargerOrNan {
  double operator()(double seen, double x) const { return x > seen || x != x ? x : seen; }
};
struct Sum {
  double operator()(double seen, double x) const { return seen + x; }
};
struct SumOfMagnitudes {
  double operator()(double seen, double x) const { return seen + std::fabs(x); }
};
struct SumOfSquares {
  double operator()(double seen, double x) const { return seen + x * x; }
};
struct SumOfPowers {
  double power;
  double operator()(double seen, double x) const { return seen + std::pow(std::fabs(x), power); }
};

/// f(that function).
template <class F>
void with_joining(PoolKind kind, int32_t power, const F& f) {
  if (kind == PoolKind::kMax) return f(LargerOrNan());
  if (kind == PoolKind::kAverage) return f(Sum());
  if (power == 1) return f(SumOfMagnitudes());
  if (power == 2) return f(SumOfSquares());
  f(SumOfPowers{static_cast<double>(power)});
}

double start_of(PoolKind kind) { return kind == PoolKind::kMax ? -std::numeric_limits<double>::infinity() : 0; }

/// Of what `counted` positions of an average gave.
double result_of(PoolKind kind, int32_t power, double seen, int64_t counted) {
  if (kind == PoolKind::kAverage) return seen / static_cast<double>(counted);
  if (kind == PoolKind::kMax || power == 1) return seen;
  return power == 2 ? std::sqrt(seen) : std::pow(seen, 1.0 / power);
}

/// The window's taps along one dimension: [begin, end) lie inside the image, `padded` inside the image with its padding.
struct TapRange {
  int64_t first, begin, end, padded;  // `first`: the position of tap 0
};

TapRange taps_of(int64_t out, int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad, int64_t pad_end) {
  const int64_t first = out * stride - pad;
  const auto below = [&](int64_t end) {
    return std::clamp<int64_t>(ceil_div(std::max<int64_t>(end - first, 0), dilation), 0, kernel);
  };
  return {first, first < 0 ? std::min(kernel, ceil_div(-first, dilation)) : 0, below(in), below(in + pad_end)};
}

TapRange taps_along_depth(const kernels::PoolShape& s, int64_t o) {
  return taps_of(o, s.in.depth, s.kernel.depth, s.stride.depth, s.dilation.depth, s.pad.depth, s.pad_end.depth);
}
TapRange taps_along_height(const kernels::PoolShape& s, int64_t o) {
  return taps_of(o, s.in.height, s.kernel.height, s.stride.height, s.dilation.height, s.pad.height, s.pad_end.height);
}
TapRange taps_along_width(const kernels::PoolShape& s, int64_t o) {
  return taps_of(o, s.in.width, s.kernel.width, s.stride.width, s.dilation.width, s.pad.width, s.pad_end.width);
}

/// Positions that an average counts along one dimension.
int64_t counted_of(const TapRange& t, bool count_padding) {
  return count_padding ? t.padded : std::max<int64_t>(t.end - t.begin, 0);
}

/// The outputs of a row whose tap at `offset` from the window's place, o * stride, lies inside the image.
struct OutputRange {
  int64_t begin, end;
};
OutputRange outputs_inside(const kernels::PoolShape& s, int64_t offset) {
  const int64_t stride = s.stride.width;
  return {offset < 0 ? ceil_div(-offset, stride) : 0,
          std::min(s.out.width, s.in.width > offset ? ceil_div(s.in.width - offset, stride) : 0)};
}

/// Joins one row of the image to a row of outputs, a tap of the window at a time: neighbouring outputs read neighbours.
template <class Join>
void join_row(const kernels::PoolShape& s, const double* in, double* out, const Join& join) {
  const int64_t stride = s.stride.width, dilation = s.dilation.width;
  const int64_t first = ceil_div(std::max<int64_t>(0, s.pad.width - (s.out.width - 1) * stride), dilation);
  const int64_t end = std::min(s.kernel.width, ceil_div(s.pad.width + s.in.width, dilation));
  for (int64_t d = first; d < end; ++d) {
    const int64_t offset = d * dilation - s.pad.width;
    const OutputRange range = outputs_inside(s, offset);
    for (int64_t o = range.begin; o < range.end; ++o) out[o] = join(out[o], in[o * stride + offset]);
  }
}

void pool_row(const PoolArgs& args, int64_t depth, int64_t height, const double* in, double* out) {
  const kernels::PoolShape& s = args.shape;
  const TapRange z = taps_along_depth(s, depth), y = taps_along_height(s, height);
  std::fill_n(out, s.out.width, start_of(args.kind));
  with_joining(args.kind, args.power, [&](const auto& join) {
    for (int64_t a = z.begin; a < z.end; ++a)
      for (int64_t b = y.begin; b < y.end; ++b) {
        const int64_t pz = z.first + a * s.dilation.depth, py = y.first + b * s.dilation.height;
        join_row(s, in + (pz * s.in.height + py) * s.in.width, out, join);
      }
  });
  if (args.kind == PoolKind::kMax) return;
  const int64_t rows = counted_of(z, args.count_padding) * counted_of(y, args.count_padding);
  for (int64_t o = 0; o < s.out.width; ++o) {
    const int64_t first = o * s.stride.width - s.pad.width, last = first + (s.kernel.width - 1) * s.dilation.width;
    const bool whole = first >= 0 && last < s.in.width;
    out[o] = result_of(args.kind, args.power, out[o],
                       rows * (whole ? s.kernel.width : counted_of(taps_along_width(s, o), args.count_padding)));
  }
}

/// The largest element of a window and where it first is, or the first NaN.
double max_and_index(const PoolArgs& args, const Extent& o, const double* in, int64_t* index) {
  const kernels::PoolShape& s = args.shape;
  const TapRange z = taps_along_depth(s, o.depth), y = taps_along_height(s, o.height), x = taps_along_width(s, o.width);
  double largest = -std::numeric_limits<double>::infinity();
  int64_t where = -1;
  for (int64_t a = z.begin; a < z.end; ++a)
    for (int64_t b = y.begin; b < y.end; ++b)
      for (int64_t d = x.begin; d < x.end; ++d) {
        const int64_t pz = z.first + a * s.dilation.depth, py = y.first + b * s.dilation.height,
                      px = x.first + d * s.dilation.width;
        const int64_t at = (pz * s.in.height + py) * s.in.width + px;
        if (where >= 0 && !(in[at] > largest) && !(std::isnan(in[at]) && !std::isnan(largest))) continue;
        largest = in[at];
        where = args.column_major_indices ? (px * s.in.height + py) * s.in.depth + pz : at;
      }
  *index = std::max<int64_t>(where, 0);
  return largest;
}

void emit_pool_with_indices(LowerContext& c, const char* name, const PoolArgs& args) {
  const int64_t size = pool_volume(args.shape.out), in_size = pool_volume(args.shape.in);
  emit_items(c, name, args.shape.batch * args.shape.channels * size, items_of_work(pool_volume(args.shape.kernel)),
             [=, in = c.in(0), out = c.out(), indices = c.out(1)](const Run& run, int64_t begin, int64_t end) {
               for (int64_t i = begin; i < end; ++i) {
                 const int64_t plane = i / size, o = i % size, row = o / args.shape.out.width;
                 const Extent at{row / args.shape.out.height, row % args.shape.out.height, o % args.shape.out.width};
                 int64_t index = 0;
                 run.get<double>(out)[i] = max_and_index(args, at, run.get<const double>(in) + plane * in_size, &index);
                 run.get<int64_t>(indices)[i] = plane * in_size + index;
               }
             });
}

}  // namespace

void emit_pool(LowerContext& c, const char* name, const PoolArgs& args) {
  if (c.out(1)) return emit_pool_with_indices(c, name, args);
  const Extent size = args.shape.out;
  const int64_t in_size = pool_volume(args.shape.in), rows = size.depth * size.height;
  emit_items(c, name, size.width == 0 ? 0 : args.shape.batch * args.shape.channels * rows,
             items_of_work(size.width * std::min<int64_t>(pool_volume(args.shape.kernel), 1 << 14)),
             [=, in = c.in(0), out = c.out()](const Run& run, int64_t begin, int64_t end) {
               for (int64_t i = begin; i < end; ++i)
                 pool_row(args, i % rows / size.height, i % size.height, run.get<const double>(in) + i / rows * in_size,
                          run.get<double>(out) + i * size.width);
             });
}

void emit_global_pool(LowerContext& c, const char* name, PoolKind kind, int32_t power) {
  const Dims dims = c.in_dims(0);
  const int64_t size = element_count(std::span(dims).subspan(2));
  emit_items(c, name, dims[0] * dims[1], items_of_work(size),
             [=, in = c.in(0), out = c.out()](const Run& run, int64_t begin, int64_t end) {
               for (int64_t i = begin; i < end; ++i) {
                 const double* x = run.get<const double>(in) + i * size;
                 double seen = start_of(kind);
                 with_joining(kind, power, [&](const auto& join) {
                   for (int64_t k = 0; k < size; ++k) seen = join(seen, x[k]);
                 });
                 run.get<double>(out)[i] = result_of(kind, power, seen, size);
               }
             });
}

}  // namespace svengine::ops::wide
