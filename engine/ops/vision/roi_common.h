// RoiAlign's regions and samples, for the operator and its gradient.
//
// A region is cut into rows x columns bins, a bin into grid.height x grid.width samples, each interpolated between four elements.
#pragma once
#include <algorithm>
#include <cmath>

#include "engine/ops/infer_util.h"
#include "engine/ops/vision/sampling_common.h"

namespace svengine::ops {

struct RoiRules {
  int64_t rows = 1, columns = 1;  // of the output
  int64_t sampling_ratio = 0;     // 0: as many samples as elements in a bin
  double scale = 1;
  bool half_pixel = true;
  bool average = true;  // else the largest weighted element, as the specification has it
};

std::vector<AttributeDef> roi_align_attributes();
Result<RoiRules> roi_rules(const Attributes& attributes);

/// Types and shapes of X, rois and batch_indices in inputs `first` and behind; the output's shape.
Result<Shape> roi_output(const InferContext& c, size_t first, const RoiRules& rules);

/// Samples along one side of a bin that are taken at most: what is larger, or no number, is refused when it is run.
inline constexpr double kMostBinSamples = 1 << 14;

template <class T>
struct Region {
  T top = 0, left = 0, bin_height = 0, bin_width = 0;
  int64_t rows = 0, columns = 0;  // samples of a bin
  bool valid = false;

  Region(const RoiRules& rules, const T* roi) {
    const T scale = static_cast<T>(rules.scale), offset = rules.half_pixel ? T(0.5) : T(0);
    left = roi[0] * scale - offset, top = roi[1] * scale - offset;
    T width = roi[2] * scale - offset - left, height = roi[3] * scale - offset - top;
    if (!rules.half_pixel) width = std::max(width, T(1)), height = std::max(height, T(1));
    bin_height = height / static_cast<T>(rules.rows), bin_width = width / static_cast<T>(rules.columns);
    valid = std::isfinite(left) && std::isfinite(top) && std::isfinite(width) && std::isfinite(height) &&
            std::fabs(bin_height) <= T(kMostBinSamples) && std::fabs(bin_width) <= T(kMostBinSamples);
    if (!valid) return;
    rows = rules.sampling_ratio > 0 ? rules.sampling_ratio : std::max<int64_t>(static_cast<int64_t>(std::ceil(bin_height)), 0);
    columns = rules.sampling_ratio > 0 ? rules.sampling_ratio : std::max<int64_t>(static_cast<int64_t>(std::ceil(bin_width)), 0);
  }
  int64_t samples() const { return rows * columns; }
  T row_of(int64_t bin_row, int64_t sample) const {
    return top + static_cast<T>(bin_row) * bin_height +
           (static_cast<T>(sample / columns) + T(0.5)) * bin_height / static_cast<T>(rows);
  }
  T column_of(int64_t bin_column, int64_t sample) const {
    return left + static_cast<T>(bin_column) * bin_width +
           (static_cast<T>(sample % columns) + T(0.5)) * bin_width / static_cast<T>(columns);
  }
};

/// The four elements of one sample as taps [first, first + 4) of position j. Places up to one element outside are moved to the
/// border.
template <class T>
void roi_taps(const SampleTables<T>& tables, int64_t first, int64_t j, T y, T x, int64_t height, int64_t width, T factor) {
  const bool outside = !(y >= -1 && y <= static_cast<T>(height) && x >= -1 && x <= static_cast<T>(width));
  bilinear_taps(tables, first, j, outside ? T(-2) : std::clamp(y, T(0), static_cast<T>(height - 1)),
                outside ? T(-2) : std::clamp(x, T(0), static_cast<T>(width - 1)), height, width, factor);
}

}  // namespace svengine::ops
