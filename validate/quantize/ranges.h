// The range of a value over calibration samples that its 8 bits shall cover.
//
//   min-max      all that was seen
//   percentile   without what lies above and below: the share (100 - p) / 2 % of the elements at either end
//   entropy      [-t, t], or one side of it, where 128 steps (256 for one sign) lose the least: t minimises the Kullback-Leibler divergence
//                between the histogram of |x| cut off at t and the same merged into so many steps. The method is TensorRT's (S. Migacz, "8-bit
//                inference with TensorRT", GTC 2017) as NVIDIA's pytorch-quantization has it (calib/histogram.py): 2048 bins; the bin at 0 counts
//                as the one beside it, for the zeros of a Relu say nothing about where to cut.
//
// What is kept of a value is its extremes or one histogram, never its elements.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/base/tensor.h"

namespace svengine::validate {

enum class CalibrationMethod : uint8_t { min_max, percentile, entropy };

/// low <= high, both finite.
struct Range {
  double low = 0, high = 0;
};
Range union_of(const Range& a, const Range& b);

/// Extremes of float32 tensors; elements that are not finite are counted.
class RangeMeter {
 public:
  void add(const Tensor& tensor);
  /// 0 to 0 before the first finite element.
  Range range() const { return count_ ? Range{low_, high_} : Range{}; }
  int64_t not_finite() const { return not_finite_; }

 private:
  float low_ = 0, high_ = 0;
  int64_t count_ = 0, not_finite_ = 0;
};

/// Elements by equal intervals of a range that is known to hold them all, or of their absolute values.
class Histogram {
 public:
  static constexpr size_t kBins = 2048;
  Histogram(Range range, bool absolute);

  /// float32. What lies outside the range counts in the bin next to it.
  void add(const Tensor& tensor);

  const std::vector<int64_t>& counts() const { return counts_; }
  /// The lower end of bin `i`; of kBins the upper end of all.
  double edge(size_t i) const { return low_ + width_ * static_cast<double>(i); }

 private:
  double low_, width_;
  bool absolute_;
  std::vector<int64_t> counts_;
};

/// `percentile` in (0, 100]; the histogram is of the elements themselves.
Range percentile_range(const Histogram& histogram, double percentile);

/// The histogram is of absolute values; `all` is the range of the elements.
Range entropy_range(const Histogram& histogram, const Range& all);

}  // namespace svengine::validate
