// Where GridSample reads: for each spatial axis a coordinate of the grid, -1 to 1 over the image, becomes up to four places and
// weights.
#pragma once
#include <algorithm>
#include <cmath>

#include "engine/graph/op_def.h"

namespace svengine::ops {

enum class GridMode { kNearest, kLinear, kCubic };
enum class GridPadding { kZeros, kBorder, kReflection };

struct GridRules {
  GridMode mode = GridMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;
  int64_t axis_taps() const { return mode == GridMode::kNearest ? 1 : mode == GridMode::kLinear ? 2 : 4; }
};

std::vector<AttributeDef> grid_attributes();
Result<GridRules> grid_rules(const Attributes& attributes);

/// X [N, C, spatial...] and grid [N, out..., number of spatial axes] as loops see them.
struct GridShape {
  int64_t batch = 0, channels = 0, positions = 0, plane = 0;
  size_t axes = 0;
  int64_t in[3] = {};
};

/// Refuses what does not fit; unknown dimensions pass. The output's shape where ranks are known.
Result<Shape> grid_output(const Shape& x, const Shape& grid);
GridShape grid_shape(const Dims& x, const Dims& grid);

template <class T>
struct GridAxis {
  int64_t place[4];  // negative: 0 is read
  T weight[4];
  T slope[4];  // of the weight by the grid's coordinate
};

/// x reflected at both borders until it is between them, and the sign of its slope.
template <class T>
T reflected(T x, T low, T high, T& sign) {
  sign = 1;
  const T range = high - low;
  if (!(range > 0)) return low;
  if (x >= low && x <= high) return x;
  const T beyond = x < low ? low - x : x - high;
  const T turns = std::floor(beyond / range), rest = std::clamp(beyond - turns * range, T(0), range);
  const bool even = std::fmod(turns, T(2)) == 0;
  sign = even ? T(-1) : T(1);
  return (x < low) == even ? low + rest : high - rest;
}

/// Coefficients of cubic convolution (Keys, a = -0.75) at distance `f` behind the second of four, and their slopes.
template <class T>
void cubic_weights(T f, T* weight, T* slope) {
  constexpr T a = T(-0.75);
  const auto near = [&](T d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [&](T d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  const auto near_slope = [&](T d) { return (3 * (a + 2) * d - 2 * (a + 3)) * d; };
  const auto far_slope = [&](T d) { return (3 * a * d - 10 * a) * d + 8 * a; };
  weight[0] = far(f + 1), weight[1] = near(f), weight[2] = near(1 - f), weight[3] = far(2 - f);
  slope[0] = far_slope(f + 1), slope[1] = near_slope(f), slope[2] = -near_slope(1 - f), slope[3] = -far_slope(2 - f);
}

/// As PyTorch and ONNX Runtime do: every place that is read is moved to the border by itself. (ONNX's reference moves the coordinate first,
/// which differs in cubic samples outside; its tests have none.) A coordinate is reflected first, then every place again.
template <class T>
GridAxis<T> grid_axis(const GridRules& rules, T coordinate, int64_t size) {
  GridAxis<T> out{};
  const T length = static_cast<T>(size), low = rules.align_corners ? T(0) : T(-0.5),
          high = rules.align_corners ? length - 1 : length - T(0.5);
  const T scale = rules.align_corners ? (length - 1) / 2 : length / 2;
  T x = rules.align_corners ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2, slope = scale;
  if (rules.mode == GridMode::kNearest) x = std::nearbyint(x);
  if (!(x >= low && x <= high)) {
    T sign = 1;
    if (rules.padding == GridPadding::kBorder) x = std::clamp(x, T(-4), length + 3);  // beyond, all that is read is the border
    if (rules.padding == GridPadding::kReflection) x = reflected(x, low, high, sign), slope *= sign;
  }
  // What is no number reads zeros, as does what is far outside; within 2^30 places fit their type.
  const bool usable = x > T(-0x1p30) && x < T(0x1p30);
  const T floor = usable ? std::floor(x) : T(0);
  const int64_t taps = rules.axis_taps();
  int64_t first = static_cast<int64_t>(floor);
  if (rules.mode == GridMode::kNearest) {
    out.weight[0] = 1;
  } else if (rules.mode == GridMode::kLinear) {
    out.weight[0] = 1 - (x - floor), out.weight[1] = x - floor;
    out.slope[0] = -slope, out.slope[1] = slope;
  } else {
    cubic_weights(x - floor, out.weight, out.slope);
    for (T& s : out.slope) s *= slope;
    first -= 1;
  }
  for (int64_t t = 0; t < taps; ++t) {
    int64_t place = first + t;
    T sign;
    if (rules.padding == GridPadding::kBorder) place = std::clamp<int64_t>(place, 0, size - 1);
    if (rules.padding == GridPadding::kReflection)
      place = std::clamp(static_cast<int64_t>(reflected(static_cast<T>(place), low, high, sign)), int64_t{0}, size - 1);
    out.place[t] = usable && place >= 0 && place < size ? place : -1;
    if (out.place[t] < 0) out.weight[t] = out.slope[t] = 0;
  }
  return out;
}

/// All axes of one position; `grid` has them innermost first.
template <class T>
struct GridPosition {
  GridAxis<T> axis[3];
  int64_t taps[3] = {1, 1, 1};
  int64_t size = 1;  // product of taps

  template <class G>
  GridPosition(const GridRules& rules, const GridShape& shape, const G* grid) {
    for (size_t a = 0; a < shape.axes; ++a) {
      axis[a] = grid_axis<T>(rules, static_cast<T>(grid[shape.axes - 1 - a]), shape.in[a]);
      taps[a] = rules.axis_taps();
      size *= taps[a];
    }
  }
  /// visit(tap, its place in the plane or -1, its index along each axis).
  template <class Visit>
  void for_each(const GridShape& shape, const Visit& visit) const {
    int64_t tap = 0;
    int64_t along[3] = {};
    for (along[0] = 0; along[0] < taps[0]; ++along[0])
      for (along[1] = 0; along[1] < taps[1]; ++along[1])
        for (along[2] = 0; along[2] < taps[2]; ++along[2]) {
          int64_t place = 0;
          for (size_t a = 0; a < shape.axes; ++a) {
            const int64_t here = axis[a].place[along[a]];
            place = here < 0 || place < 0 ? -1 : place * shape.in[a] + here;
          }
          visit(tap++, place, along);
        }
  }
  T weight(const GridShape& shape, const int64_t* along) const {
    T product = 1;
    for (size_t a = 0; a < shape.axes; ++a) product *= axis[a].weight[along[a]];
    return product;
  }
  /// Of the weight by the coordinate of axis `by`.
  T slope(const GridShape& shape, const int64_t* along, size_t by) const {
    T product = 1;
    for (size_t a = 0; a < shape.axes; ++a) product *= a == by ? axis[a].slope[along[a]] : axis[a].weight[along[a]];
    return product;
  }
};

}  // namespace svengine::ops
