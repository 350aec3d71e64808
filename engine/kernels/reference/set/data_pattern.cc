// Resampling, one-hot vectors and triangles.
#include "engine/kernels/reference/set/data.h"
#include "engine/kernels/reference/set/tasks.h"
#include "engine/kernels/reference/set/types.h"
#include "engine/kernels/reference/set/walk.h"

namespace svengine::kernels::reference {

namespace {

template <class T>
void resample_of(const ResampleOf<T>& args, int64_t begin, int64_t end) {
  for (int64_t item = begin; item < end; ++item) {
    const int64_t i = item % args.inner, j = item / args.inner % args.out, o = item / args.inner / args.out;
    double sum = 0;
    for (int32_t t = 0; t < args.taps && args.index[j] >= 0; ++t)
      sum += double{args.weight[t * args.out + j]} * args.x[(o * args.in + args.index[t * args.out + j]) * args.inner + i];
    args.y[item] = args.index[j] < 0 ? args.outside : static_cast<T>(sum);
  }
}

}  // namespace

int64_t resample_items(const ResampleArgs& args) { return args.outer * args.out * args.inner; }
int64_t resample_f64_items(const ResampleF64Args& args) { return args.outer * args.out * args.inner; }

void resample_range(const ResampleArgs& args, int64_t begin, int64_t end, void*) { resample_of(args, begin, end); }
void resample_f64_range(const ResampleF64Args& args, int64_t begin, int64_t end, void*) { resample_of(args, begin, end); }

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
        const double product = index < 0 ? 0 : double{args.weight[t * args.count + j]} * x[index * lanes];
        if (!args.largest) sum += product;
        else if (product > sum || (t == 0 && !args.accumulate)) sum = product;
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

}  // namespace svengine::kernels::reference
