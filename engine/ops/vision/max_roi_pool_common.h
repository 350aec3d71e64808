// The bins of MaxRoiPool, and where their maxima are: what it shares with its gradient.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/infer_util.h"

namespace svengine::ops {

/// The output's shape from X, input `x`, and the rois behind it; all are of one type.
Result<Shape> max_roi_pool_output(const InferContext& c, size_t x);

struct MaxRoiPool {
  int64_t images, channels, height, width, rows, columns;  // bins are rows x columns
  double scale;

  /// Null, or what is wrong with a region: batch index, x1, y1, x2, y2.
  template <class T>
  const char* check(const T* roi) const {
    for (int i = 0; i < 5; ++i)
      if (!(std::fabs(static_cast<double>(roi[i])) <= 0x1p30 && std::fabs(static_cast<double>(roi[i]) * scale) <= 0x1p30))
        return "a region is not within 2^30 elements of the image";
    return roi[0] >= 0 && roi[0] < static_cast<T>(images) ? nullptr : "a batch index is not that of an image";
  }

  /// Whole elements of an axis, or of a bin's two.
  struct Range {
    int64_t begin, end;
  };
  struct Bin {
    Range down, across;
  };

  template <class T>
  Bin bin_of(const T* roi, int64_t bin) const {
    const auto corner = [&](int i) { return std::round(roi[i] * static_cast<T>(scale)); };
    const T left = corner(1), top = corner(2), wide = std::max(corner(3) - left + 1, T(1)), high = std::max(corner(4) - top + 1, T(1));
    return {range(bin / columns, high / static_cast<T>(rows), top, height),
            range(bin % columns, wide / static_cast<T>(columns), left, width)};
  }

  /// most[k] = the largest element of column k in rows [down.begin, down.end), for every k of [across.begin, across.end), and for others of the plane
  /// anything or what it was. NaN is passed over; -infinity where that leaves none.
  template <class T>
  void column_maxima(const Range& down, const Range& across, const T* x, T* most) const {
    constexpr int64_t kBeside = 16;
    int64_t k = across.begin;
    for (; k < across.end && width >= kBeside; k += kBeside) {
      const int64_t at = std::min(k, width - kBeside);  // the last ones of a row once more
      T beside[kBeside];
      std::fill_n(beside, kBeside, -std::numeric_limits<T>::infinity());
      for (int64_t r = down.begin; r < down.end; ++r) {
        const T* row = x + r * width + at;
        for (int64_t i = 0; i < kBeside; ++i) beside[i] = row[i] > beside[i] ? row[i] : beside[i];
      }
      std::copy_n(beside, kBeside, most + at);
    }
    for (; k < across.end; ++k) {
      most[k] = -std::numeric_limits<T>::infinity();
      for (int64_t r = down.begin; r < down.end; ++r) most[k] = x[r * width + k] > most[k] ? x[r * width + k] : most[k];
    }
  }

  /// The largest element of a bin, 0 where it has none, from its columns' maxima.
  template <class T>
  T maximum(const Bin& bin, const T* x, const T* most) const {
    T all = -std::numeric_limits<T>::infinity();
    for (int64_t k = bin.across.begin; k < bin.across.end; ++k) all = most[k] > all ? most[k] : all;
    if (all > -std::numeric_limits<T>::infinity()) return all;
    const int64_t at = largest(bin, x);
    return at < 0 ? T(0) : x[at];
  }

  /// The place in a plane of the first largest element of a bin; -1 where the bin has none.
  template <class T>
  int64_t largest(const Bin& bin, const T* x) const {
    int64_t at = -1;
    T most = 0;
    for (int64_t r = bin.down.begin; r < bin.down.end; ++r)
      for (int64_t k = bin.across.begin; k < bin.across.end; ++k)
        if (const T value = x[r * width + k]; at < 0 || value > most || std::isnan(most)) most = value, at = r * width + k;
    return at;
  }

 private:
  /// Elements of bin `i` along one axis of a region that begins at `start`; bins are of whole elements.
  template <class T>
  static Range range(int64_t i, T bin, T start, int64_t size) {
    const T most = static_cast<T>(size);
    return {static_cast<int64_t>(std::clamp(std::floor(static_cast<T>(i) * bin) + start, T(0), most)),
            static_cast<int64_t>(std::clamp(std::ceil(static_cast<T>(i + 1) * bin) + start, T(0), most))};
  }
};

/// From the attributes and X's dimensions.
MaxRoiPool max_roi_pool_of(const Attributes& attributes, const Dims& x);

}  // namespace svengine::ops
