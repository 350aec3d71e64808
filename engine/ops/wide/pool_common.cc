// Pooling in float64.
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

/// What a window has seen so far.
class PoolWindow {
 public:
  PoolWindow(PoolKind kind, int32_t power) : kind_(kind), power_(power) {}

  void add(double x, int64_t at) {
    if (kind_ == PoolKind::kMax) {
      if (first_ || x > largest_ || (std::isnan(x) && !std::isnan(largest_))) largest_ = x, where_ = at;
      first_ = false;
    } else if (kind_ == PoolKind::kAverage) {
      sum_ += x;
    } else {
      sum_ += power_ == 1 ? std::fabs(x) : power_ == 2 ? x * x : std::pow(std::fabs(x), power_);
    }
  }
  /// `counted` positions of an average.
  double result(int64_t counted) const {
    switch (kind_) {
      case PoolKind::kMax:
        return largest_;
      case PoolKind::kAverage:
        return sum_ / static_cast<double>(counted);
      case PoolKind::kLp:
        return power_ == 1 ? sum_ : power_ == 2 ? std::sqrt(sum_) : std::pow(sum_, 1.0 / power_);
    }
    return 0;
  }
  int64_t where() const { return where_; }

 private:
  PoolKind kind_;
  int32_t power_;
  bool first_ = true;
  double largest_ = -std::numeric_limits<double>::infinity(), sum_ = 0;
  int64_t where_ = 0;
};

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

double pool_window(const PoolArgs& args, const Extent& o, const double* in, int64_t* index) {
  const kernels::PoolShape& s = args.shape;
  const TapRange z = taps_of(o.depth, s.in.depth, s.kernel.depth, s.stride.depth, s.dilation.depth, s.pad.depth, s.pad_end.depth);
  const TapRange y =
      taps_of(o.height, s.in.height, s.kernel.height, s.stride.height, s.dilation.height, s.pad.height, s.pad_end.height);
  const TapRange x = taps_of(o.width, s.in.width, s.kernel.width, s.stride.width, s.dilation.width, s.pad.width, s.pad_end.width);
  PoolWindow window(args.kind, args.power);
  for (int64_t a = z.begin; a < z.end; ++a)
    for (int64_t b = y.begin; b < y.end; ++b)
      for (int64_t d = x.begin; d < x.end; ++d) {
        const int64_t pz = z.first + a * s.dilation.depth, py = y.first + b * s.dilation.height,
                      px = x.first + d * s.dilation.width;
        const int64_t at = (pz * s.in.height + py) * s.in.width + px;
        window.add(in[at], args.column_major_indices ? (px * s.in.height + py) * s.in.depth + pz : at);
      }
  *index = window.where();
  const auto inside = [](const TapRange& t) { return std::max<int64_t>(t.end - t.begin, 0); };
  return window.result(args.count_padding ? z.padded * y.padded * x.padded : inside(z) * inside(y) * inside(x));
}

}  // namespace

void emit_pool(LowerContext& c, const char* name, const PoolArgs& args) {
  const kernels::PoolShape& s = args.shape;
  const int64_t size = pool_volume(s.out), in_size = pool_volume(s.in);
  emit_items(c, name, s.batch * s.channels * size, items_of_work(pool_volume(s.kernel)),
             [=, in = c.in(0), out = c.out(), indices = c.out(1)](const Run& run, int64_t begin, int64_t end) {
               for (int64_t i = begin; i < end; ++i) {
                 const int64_t plane = i / size, o = i % size;
                 const Extent at{o / (args.shape.out.width * args.shape.out.height),
                                 o / args.shape.out.width % args.shape.out.height, o % args.shape.out.width};
                 int64_t index = 0;
                 run.get<double>(out)[i] = pool_window(args, at, run.get<const double>(in) + plane * in_size, &index);
                 if (indices) run.get<int64_t>(indices)[i] = plane * in_size + index;
               }
             });
}

void emit_global_pool(LowerContext& c, const char* name, PoolKind kind, int32_t power) {
  const Dims dims = c.in_dims(0);
  const int64_t size = element_count(std::span(dims).subspan(2));
  emit_items(c, name, dims[0] * dims[1], items_of_work(size),
             [=, in = c.in(0), out = c.out()](const Run& run, int64_t begin, int64_t end) {
               for (int64_t i = begin; i < end; ++i) {
                 PoolWindow window(kind, power);
                 for (int64_t k = 0; k < size; ++k) window.add(run.get<const double>(in)[i * size + k], k);
                 run.get<double>(out)[i] = window.result(size);
               }
             });
}

}  // namespace svengine::ops::wide
