// Pooling: the windows of pool.h one output at a time. A maximum is one of the inputs; averages and norms are taken in double.
#include "engine/kernels/pool.h"

#include <cmath>
#include <limits>

#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

/// What one window has seen so far.
class Window {
 public:
  Window(PoolKind kind, int32_t power) : kind_(kind), power_(power) {}

  void add(float x, int64_t at) {
    if (kind_ == PoolKind::kMax) {
      if (first_ || x > largest_ || (std::isnan(x) && !std::isnan(largest_))) largest_ = x, where_ = at;
      first_ = false;
    } else {
      sum_ += kind_ == PoolKind::kAverage ? double{x} : std::pow(std::fabs(double{x}), power_);
    }
  }
  /// `counted` positions of an average.
  float result(int64_t counted) const {
    switch (kind_) {
      case PoolKind::kMax:
        return largest_;
      case PoolKind::kAverage:
        return static_cast<float>(sum_ / static_cast<double>(counted));
      case PoolKind::kLp:
        return static_cast<float>(std::pow(sum_, 1.0 / power_));
    }
    return 0;
  }
  int64_t where() const { return where_; }

 private:
  PoolKind kind_;
  int32_t power_;
  bool first_ = true;
  float largest_ = -std::numeric_limits<float>::infinity();
  int64_t where_ = 0;
  double sum_ = 0;
};

bool within(int64_t x, int64_t end) { return x >= 0 && x < end; }

/// Output (oz, oy, ox) of the plane that starts at `in`; its index, if wanted, counts within the plane.
float window_result(const PoolArgs& args, const Extent& o, const float* in, int64_t step, int64_t* index) {
  const PoolShape& s = args.shape;
  Window window(args.kind, args.power);
  int64_t inside = 0, padded = 0;
  for (int64_t a = 0; a < s.kernel.depth; ++a)
    for (int64_t b = 0; b < s.kernel.height; ++b)
      for (int64_t c = 0; c < s.kernel.width; ++c) {
        const int64_t z = o.depth * s.stride.depth - s.pad.depth + a * s.dilation.depth;
        const int64_t y = o.height * s.stride.height - s.pad.height + b * s.dilation.height;
        const int64_t x = o.width * s.stride.width - s.pad.width + c * s.dilation.width;
        padded += z < s.in.depth + s.pad_end.depth && y < s.in.height + s.pad_end.height && x < s.in.width + s.pad_end.width;
        if (!within(z, s.in.depth) || !within(y, s.in.height) || !within(x, s.in.width)) continue;
        ++inside;
        const int64_t at = (z * s.in.height + y) * s.in.width + x;
        window.add(in[at * step], args.column_major_indices ? (x * s.in.height + y) * s.in.depth + z : at);
      }
  if (index) *index = window.where();
  return window.result(args.count_padding ? padded : inside);
}

int64_t window_planes(const PoolArgs& args) { return args.shape.batch * stored_channels(args.blocked, args.shape.channels); }

/// Outputs of all planes, plane by plane.
int64_t window_items(const PoolArgs& args) { return window_planes(args) * volume(args.shape.out); }

void window_range(const PoolArgs& args, int64_t begin, int64_t end, void*) {
  const PoolShape& s = args.shape;
  const int64_t stored = stored_channels(args.blocked, s.channels), size = volume(s.out), in_size = volume(s.in);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t plane = item / size, o = item % size;
    const Plane in = plane_of(args.blocked, plane / stored, plane % stored, s.channels, in_size);
    const Plane out = plane_of(args.blocked, plane / stored, plane % stored, s.channels, size);
    const Extent at{o / (s.out.width * s.out.height), o / s.out.width % s.out.height, o % s.out.width};
    int64_t index = 0;
    args.output[out.start + o * out.step] = window_result(args, at, args.input + in.start, in.step, &index);
    if (args.indices) args.indices[item] = plane * in_size + index;
  }
}

int64_t global_items(const GlobalPoolArgs& args) { return args.batch * stored_channels(args.blocked, args.channels); }

void global_range(const GlobalPoolArgs& args, int64_t begin, int64_t end, void*) {
  const int64_t stored = stored_channels(args.blocked, args.channels);
  for (int64_t item = begin; item < end; ++item) {
    const Plane in = plane_of(args.blocked, item / stored, item % stored, args.channels, args.size);
    Window window(args.kind, args.power);
    for (int64_t i = 0; i < args.size; ++i) window.add(args.input[in.start + i * in.step], i);
    args.output[item] = window.result(args.size);  // blocked: [N][ceil(C / c)][c], which is the order of the items
  }
}

}  // namespace

extern const PoolKernels pool_kernels;
constinit const PoolKernels pool_kernels{by_items<PoolArgs, window_items, window_range, 1024>(),
                                         by_items<GlobalPoolArgs, global_items, global_range, 16>()};

}  // namespace svengine::kernels::reference
