// Plain functions that turn what an operator knows into the arguments of data kernels. They run once, when a plan is
// made.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/kernels/data.h"

namespace svengine::kernels {

/// The same copy with as few dimensions as possible, ordered so that the kernel finds contiguous runs: dimensions of
/// one element dropped, the others sorted by descending destination stride, neighbours merged where both sides allow
/// it.
CopyArgs collapse_copy(CopyArgs args);

enum class PadMode : int32_t { kConstant, kReflect, kEdge, kWrap };

/// MapArgs::map of one padded dimension: `begin` positions before and `end` after the `extent` of the source; either
/// may be negative: a crop, and pads are taken from what that leaves, as in ONNX Runtime. kReflect, kEdge and kWrap need
/// at least one element there; reflections and wraps go on for as long as needed.
std::vector<int32_t> pad_map(PadMode mode, int64_t extent, int64_t begin, int64_t end);

struct MapRun {
  int64_t begin, length;
};

/// The longest run of entries that are not negative and ascend by one: MapArgs::run_begin and run_length for the last
/// map.
MapRun longest_run(const std::vector<int32_t>& map);
/// Position i is i / 2: MapArgs::doubles.
bool doubles(const std::vector<int32_t>& map);

/// Where output position j of a Resize lies in the source, with scale = out / in as ONNX computes or is given it.
enum class ResizeCoordinate : int32_t {
  kHalfPixel,           // (j + 0.5) / scale - 0.5
  kHalfPixelSymmetric,  // as above, moved so that a rounded output size stays centred
  kPytorchHalfPixel,    // as kHalfPixel, 0 where out is 1
  kAlignCorners,        // j (in - 1) / (length - 1), length = out, or in scale where that is less than in; 0 where out is 1
  kAsymmetric,          // j / scale
  kTfHalfPixelForNn,    // (j + 0.5) / scale, half a pixel to the right of kHalfPixel; j where nothing is resized
  kTfCropAndResize,     // within the region [roi_begin, roi_end] of the source; outside it positions have no source
};

enum class ResizeNearest : int32_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

struct ResizeAxis {
  int64_t in = 0, out = 0;
  double scale = 1;
  bool scale_is_float = false;  // it is rounded to float32 already. 2.7 of a file is 2.70000005: whether position 27 is 10, or right below it,
                                // which is 9 where rounded down, the rounding of a quotient in float32 settles as in PyTorch and ONNX Runtime
  ResizeCoordinate coordinate = ResizeCoordinate::kHalfPixel;
  double roi_begin = 0, roi_end = 1;  // kTfCropAndResize only, normalised
};

/// MapArgs::map of one dimension resized to the nearest source; -1 where kTfCropAndResize has none.
std::vector<int32_t> nearest_map(const ResizeAxis& axis, ResizeNearest rounding);

struct ResampleTables {
  int32_t taps;
  std::vector<int32_t> index;  // [taps, out]
  std::vector<float> weight;
  std::vector<double> exact = {};  // the same before rounding
};

/// ResampleArgs tables of one dimension. antialias widens the filter when shrinking.
ResampleTables linear_tables(const ResizeAxis& axis, bool antialias = false);
ResampleTables cubic_tables(const ResizeAxis& axis, double coefficient = -0.75, bool exclude_outside = false,
                            bool antialias = false);

}  // namespace svengine::kernels
