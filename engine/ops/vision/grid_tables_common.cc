// Compiled to vectors, without regard to traps (engine/CMakeLists.txt). Loops have no branches, && included, and call nothing: floor and nearbyint
// are functions on x86-64 without SSE4.
#include "engine/ops/vision/grid_tables_common.h"

namespace svengine::ops {
namespace {

/// One axis of a chunk: for each tap its place times the axis' stride, -1 where 0 is read, and its weight, 0 there.
template <class T>
struct AxisTables {
  int64_t taps = 1;
  int32_t place[4][kGridChunk];
  T weight[4][kGridChunk];
};

/// What an axis is like.
struct GridLine {
  int64_t size, stride;
};

/// Half to even, as nearbyint().
template <class T>
T nearest_whole(T x) {
  constexpr T kWhole = std::is_same_v<T, float> ? T(0x1p23) : T(0x1p52);  // what is larger has no fraction
  const T size = std::fabs(x), rounded = std::copysign((size + kWhole) - kWhole, x);
  return size < kWhole ? rounded : x;
}

/// Where the first tap of each position lies, and whether any lies anywhere.
struct FirstTaps {
  int32_t first[kGridChunk], usable[kGridChunk];
};

/// grid_axis() of all positions, without reflection, up to the places of their taps: the same operations in the same order.
template <GridMode kMode, bool kBorder, bool kAlign, class T>
void axis_weights(const GridLine& line, const T* __restrict coordinate, int64_t count, FirstTaps& at, AxisTables<T>& out) {
  constexpr int kTaps = kMode == GridMode::kNearest ? 1 : kMode == GridMode::kLinear ? 2 : 4;
  const T length = static_cast<T>(line.size), last = length + 3;
  out.taps = kTaps;
  for (int64_t j = 0; j < count; ++j) {
    const T from_zero = coordinate[j] + 1;
    T x = kAlign ? from_zero / 2 * (length - 1) : (from_zero * length - 1) / 2;
    if constexpr (kMode == GridMode::kNearest) x = nearest_whole(x);
    if constexpr (kBorder) {  // beyond, all that is read is the border
      x = x < T(-4) ? T(-4) : x;
      x = x > last ? last : x;
    }
    // What is no number reads zeros, as does what is far outside; within 2^30 places fit their type.
    at.usable[j] = static_cast<int32_t>(x > T(-0x1p30)) & static_cast<int32_t>(x < T(0x1p30));
    const T inside = at.usable[j] ? x : T(0);
    const auto whole = static_cast<int32_t>(inside);
    const int32_t below = static_cast<T>(whole) > inside;  // conversion rounds towards zero
    at.first[j] = whole - below - (kMode == GridMode::kCubic);
    const T fraction = inside - static_cast<T>(whole - below);
    T weight[4] = {1}, slope[4];
    if constexpr (kMode == GridMode::kLinear) weight[0] = 1 - fraction, weight[1] = fraction;
    if constexpr (kMode == GridMode::kCubic) cubic_weights(fraction, weight, slope);
    out.weight[0][j] = weight[0];
    if constexpr (kTaps > 1) out.weight[1][j] = weight[1];
    if constexpr (kTaps > 2) out.weight[2][j] = weight[2], out.weight[3][j] = weight[3];
  }
}

template <class T>
void reflected_tables(const GridRules& rules, const GridLine& line, const T* coordinate, int64_t count, AxisTables<T>& out) {
  out.taps = rules.axis_taps();
  for (int64_t j = 0; j < count; ++j) {
    const GridAxis<T> axis = grid_axis<T>(rules, coordinate[j], line.size);
    for (int64_t t = 0; t < out.taps; ++t) {
      out.place[t][j] = axis.place[t] < 0 ? -1 : static_cast<int32_t>(axis.place[t] * line.stride);
      out.weight[t][j] = axis.weight[t];
    }
  }
}

/// The rest: places, and weights of 0 where none is read.
template <bool kBorder, class T>
void axis_places(const GridLine& line, const FirstTaps& at, int64_t count, AxisTables<T>& out) {
  const auto size = static_cast<int32_t>(line.size);
  const auto stride = static_cast<uint32_t>(line.stride);
  for (int32_t t = 0; t < out.taps; ++t)
    for (int64_t j = 0; j < count; ++j) {
      int32_t place = at.first[j] + t;
      if constexpr (kBorder) {
        place = place < 0 ? 0 : place;
        place = place > size - 1 ? size - 1 : place;
      }
      const bool read = at.usable[j] & static_cast<int32_t>(place >= 0) & static_cast<int32_t>(place < size);
      out.place[t][j] = read ? static_cast<int32_t>(static_cast<uint32_t>(place) * stride) : -1;
      out.weight[t][j] = read ? out.weight[t][j] : T(0);
    }
}

template <bool kBorder, bool kAlign, class T>
void axis_tables_of(GridMode mode, const GridLine& line, const T* coordinate, int64_t count, AxisTables<T>& out) {
  FirstTaps at;
  if (mode == GridMode::kNearest)
    axis_weights<GridMode::kNearest, kBorder, kAlign>(line, coordinate, count, at, out);
  else if (mode == GridMode::kLinear)
    axis_weights<GridMode::kLinear, kBorder, kAlign>(line, coordinate, count, at, out);
  else
    axis_weights<GridMode::kCubic, kBorder, kAlign>(line, coordinate, count, at, out);
  axis_places<kBorder>(line, at, count, out);
}

/// All combinations of three axes' taps, those of the last next to each other.
template <class T>
void combine_axes(const AxisTables<T> (&axis)[3], const SampleTables<T>& tables) {
  int32_t* index = tables.index;
  T* weight = tables.weight;
  const int64_t count = tables.count;
  for (int64_t a = 0; a < axis[0].taps; ++a)
    for (int64_t b = 0; b < axis[1].taps; ++b)
      for (int64_t c = 0; c < axis[2].taps; ++c, index += count, weight += count) {
        const int32_t *p = axis[0].place[a], *q = axis[1].place[b], *r = axis[2].place[c];
        const T *u = axis[0].weight[a], *v = axis[1].weight[b], *w = axis[2].weight[c];
        for (int64_t j = 0; j < count; ++j) {
          const bool read = (p[j] | q[j] | r[j]) >= 0;
          index[j] = read ? p[j] + q[j] + r[j] : -1;
          weight[j] = read ? u[j] * v[j] * w[j] : T(0);
        }
      }
}

}  // namespace

template <class T, class G>
void fill_grid_tables(const GridRules& rules, const GridShape& shape, const G* grid, const SampleTables<T>& tables) {
  AxisTables<T> axis[3];
  int64_t stride = 1;
  for (size_t a = 3; a-- > 0;) {
    if (a >= shape.axes) {
      std::fill_n(axis[a].place[0], tables.count, 0);
      std::fill_n(axis[a].weight[0], tables.count, T(1));
      continue;
    }
    T coordinate[kGridChunk];
    for (int64_t j = 0; j < tables.count; ++j)
      coordinate[j] = static_cast<T>(grid[j * static_cast<int64_t>(shape.axes) + static_cast<int64_t>(shape.axes - 1 - a)]);
    const GridLine line{shape.in[a], stride};
    if (rules.padding == GridPadding::kReflection)
      reflected_tables(rules, line, coordinate, tables.count, axis[a]);
    else if (rules.padding == GridPadding::kBorder)
      (rules.align_corners ? axis_tables_of<true, true, T> : axis_tables_of<true, false, T>)(rules.mode, line, coordinate, tables.count, axis[a]);
    else
      (rules.align_corners ? axis_tables_of<false, true, T> : axis_tables_of<false, false, T>)(rules.mode, line, coordinate, tables.count, axis[a]);
    stride *= shape.in[a];
  }
  combine_axes(axis, tables);
}

template void fill_grid_tables(const GridRules&, const GridShape&, const float*, const SampleTables<float>&);
template void fill_grid_tables(const GridRules&, const GridShape&, const double*, const SampleTables<float>&);
template void fill_grid_tables(const GridRules&, const GridShape&, const float*, const SampleTables<double>&);
template void fill_grid_tables(const GridRules&, const GridShape&, const double*, const SampleTables<double>&);

}  // namespace svengine::ops
