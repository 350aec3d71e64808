// Resampling, one-hot vectors, triangles and the coordinates of what is not zero.
#include <limits>

#include "engine/kernels/reference/set/data.h"
#include "engine/kernels/reference/set/tasks.h"
#include "engine/kernels/reference/set/types.h"
#include "engine/kernels/reference/set/walk.h"

namespace svengine::kernels::reference {
namespace {

constexpr int64_t kNonZeroTask = 16384;  // elements

Walk<1> walk_of(const NonZeroArgs& args) {
  Walk<1> walk;
  for (int d = 0; d < args.rank; ++d) walk.add(args.extent[d], {0});
  return walk;
}

/// Calls visit(at) for every element of a task that is not 0. Of a floating-point zero the sign alone may be set.
template <class Visit>
void for_each_nonzero(const NonZeroArgs& args, int64_t task, const Visit& visit) {
  visit_bytes(args.element_bytes, [&]<class T>(T) {
    Walk<1> walk = walk_of(args);
    const T mask = args.floating ? std::numeric_limits<T>::max() / 2 : std::numeric_limits<T>::max();
    for_each_position(walk, task * kNonZeroTask, std::min(walk.positions(), (task + 1) * kNonZeroTask),
                      [&](int64_t i, const Walk<1>& at) {
                        if (static_cast<const T*>(args.x)[i] & mask) visit(at);
                      });
  });
}

}  // namespace

int64_t resample_items(const ResampleArgs& args) { return args.outer * args.out * args.inner; }

void resample_range(const ResampleArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item) {
    const int64_t i = item % args.inner, j = item / args.inner % args.out, o = item / args.inner / args.out;
    double sum = 0;
    for (int32_t t = 0; t < args.taps && args.index[j] >= 0; ++t)
      sum += double{args.weight[t * args.out + j]} * args.x[(o * args.in + args.index[t * args.out + j]) * args.inner + i];
    args.y[item] = args.index[j] < 0 ? args.outside : static_cast<float>(sum);
  }
}

int64_t weighted_gather_items(const WeightedGatherArgs& args) {
  return args.count > 0 ? stored_channels(args.blocked, args.channels) : 0;
}

void weighted_gather_range(const WeightedGatherArgs& args, int64_t begin, int64_t end, void*) {
  const int64_t lanes = args.blocked ? kLanes : 1;
  for (int64_t c = begin; c < end; ++c)
    for (int64_t j = 0; j < args.count; ++j) {
      const float* x = args.x + c / lanes * args.x_stride + c % lanes;
      float& y = args.y[c / lanes * args.y_stride + j * lanes + c % lanes];
      double sum = args.accumulate ? y : 0;
      for (int64_t t = 0; t < args.taps; ++t) {
        const int32_t index = args.index[t * args.count + j];
        if (index >= 0) sum += double{args.weight[t * args.count + j]} * x[index * lanes];
      }
      y = static_cast<float>(sum);
    }
}

int64_t one_hot_items(const OneHotArgs& args) { return args.outer * args.depth * args.inner; }

void one_hot_range(const OneHotArgs& args, int64_t begin, int64_t end, void*) {
  visit_bytes(args.element_bytes, [&]<class T>(T) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t i = item % args.inner, d = item / args.inner % args.depth, o = item / args.inner / args.depth;
      const int64_t index = integer_at(args.indices, args.index_bytes, o * args.inner + i);
      static_cast<T*>(args.y)[item] = static_cast<T>(d == (index < 0 ? index + args.depth : index) ? args.on : args.off);
    }
  });
}

int64_t trilu_items(const TriluArgs& args) { return args.batch * args.rows * args.columns; }

void trilu_range(const TriluArgs& args, int64_t begin, int64_t end, void*) {
  visit_bytes(args.element_bytes, [&]<class T>(T) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t column = item % args.columns, row = item / args.columns % args.rows, diagonal = column - row;
      const bool kept = args.upper ? diagonal >= args.k : diagonal <= args.k;
      static_cast<T*>(args.y)[item] = kept ? static_cast<const T*>(args.x)[item] : T(0);
    }
  });
}

int64_t nonzero_tasks(const NonZeroArgs& args) noexcept { return ceil_div(walk_of(args).positions(), kNonZeroTask); }

void nonzero_count(const NonZeroArgs& args, int64_t begin, int64_t end, void*) noexcept {
  for (int64_t task = begin; task < end; ++task) {
    args.counts[task] = 0;
    for_each_nonzero(args, task, [&](const Walk<1>&) { ++args.counts[task]; });
  }
}

void nonzero_fill(const NonZeroArgs& args, int64_t begin, int64_t end, void*) noexcept {
  for (int64_t task = begin; task < end; ++task) {
    int64_t to = 0;
    for (int64_t before = 0; before < task; ++before) to += args.counts[before];
    for_each_nonzero(args, task, [&](const Walk<1>& at) {
      for (int d = 0; d < args.rank; ++d) args.y[d * args.total + to] = at.index(d);
      ++to;
    });
  }
}

}  // namespace svengine::kernels::reference
