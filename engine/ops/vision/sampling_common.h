// Images sampled at places that are computed: what GridSample, RoiAlign and DeformConv share.
//
// A sample is a weighted sum of a few elements of a plane, the same ones in every channel: tables of places and weights are made
// for some positions at a time, and kernels::WeightedGatherArgs says what is done with them.
#pragma once
#include <algorithm>
#include <cmath>

#include "engine/kernels/data.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// Table entries of one task: [taps][count], in the thread's scratch.
template <class T>
struct SampleTables {
  int64_t taps = 0, count = 0;
  int32_t* index = nullptr;  // negative: reads 0
  T* weight = nullptr;
};

/// Scratch for tables of at most that many entries.
template <class T>
constexpr int64_t sample_scratch_bytes(int64_t entries) {
  return (entries * static_cast<int64_t>(sizeof(T) + sizeof(int32_t)) + 255) / 256 * 256;
}

template <class T>
SampleTables<T> tables_in(const Run& run, int64_t taps, int64_t count) {
  T* weight = run.scratch<T>();
  return {taps, count, reinterpret_cast<int32_t*>(weight + taps * count), weight};
}

/// y[c * y_stride + j] (+)= sum over taps, or the largest product, for all channels: the kernel for float32, loops for others.
template <class T>
void gather_samples(const kernels::DataKernels& data, const SampleTables<T>& tables, const T* x, int64_t x_stride, T* y,
                    int64_t y_stride, int64_t channels, bool accumulate, bool largest = false) {
  if constexpr (std::is_same_v<T, float>) {
    const kernels::WeightedGatherArgs args{.x = x,
                                           .y = y,
                                           .channels = channels,
                                           .count = tables.count,
                                           .x_stride = x_stride,
                                           .y_stride = y_stride,
                                           .taps = tables.taps,
                                           .index = tables.index,
                                           .weight = tables.weight,
                                           .accumulate = accumulate,
                                           .largest = largest};
    data.weighted_gather.run(args, 0, data.weighted_gather.tasks(args), nullptr);
  } else {
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t j = 0; j < tables.count; ++j) {
        T sum = accumulate ? y[c * y_stride + j] : T(0);
        for (int64_t t = 0; t < tables.taps; ++t) {
          const int32_t i = tables.index[t * tables.count + j];
          const T product = i < 0 ? T(0) : tables.weight[t * tables.count + j] * x[c * x_stride + i];
          if (largest)
            sum = t == 0 && !accumulate ? product : std::max(sum, product);
          else if (i >= 0)
            sum += product;
        }
        y[c * y_stride + j] = sum;
      }
  }
}

/// The four elements around a place (y, x), which may lie up to one element outside (zeros are there), as taps [first, first + 4)
/// of position j; all weights are multiplied by `factor`.
template <class T>
void bilinear_taps(const SampleTables<T>& tables, int64_t first, int64_t j, T y, T x, int64_t height, int64_t width, T factor) {
  const bool outside = !(y > -1 && y < static_cast<T>(height) && x > -1 && x < static_cast<T>(width));
  const auto top = outside ? 0 : static_cast<int64_t>(std::floor(y)), left = outside ? 0 : static_cast<int64_t>(std::floor(x));
  const T down = y - static_cast<T>(top), right = x - static_cast<T>(left);
  for (int64_t corner = 0; corner < 4; ++corner) {
    const int64_t row = top + corner / 2, column = left + corner % 2;
    const bool inside = !outside && row >= 0 && row < height && column >= 0 && column < width;
    const int64_t at = (first + corner) * tables.count + j;
    tables.index[at] = inside ? static_cast<int32_t>(row * width + column) : -1;
    tables.weight[at] = inside ? factor * (corner / 2 ? down : 1 - down) * (corner % 2 ? right : 1 - right) : T(0);
  }
}

/// Planes that tables can address.
inline constexpr int64_t kMostSampled = int64_t{1} << 31;

}  // namespace svengine::ops
