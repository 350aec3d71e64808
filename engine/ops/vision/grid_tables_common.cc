// Compiled with -O3 (engine/CMakeLists.txt). Loops have no branches and call nothing: floor and nearbyint are functions on x86-64 without SSE4.
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
  bool align_corners;
};

/// Half to even, as nearbyint().
template <class T>
T nearest_whole(T x) {
  constexpr T kWhole = std::is_same_v<T, float> ? T(0x1p23) : T(0x1p52);  // what is larger has no fraction
  const T size = std::fabs(x), rounded = std::copysign((size + kWhole) - kWhole, x);
  return size < kWhole ? rounded : x;
}

/// grid_axis() of all positions, without reflection: the same operations in the same order.
template <GridMode kMode, bool kBorder, class T>
void axis_tables(const GridLine& line, const T* coordinate, int64_t count, AxisTables<T>& out) {
  constexpr int kTaps = kMode == GridMode::kNearest ? 1 : kMode == GridMode::kLinear ? 2 : 4;
  const T length = static_cast<T>(line.size);
  const auto size = static_cast<int32_t>(line.size), stride = static_cast<int32_t>(line.stride);
  const bool align = line.align_corners;
  out.taps = kTaps;
  for (int64_t j = 0; j < count; ++j) {
    const T from_zero = coordinate[j] + 1;
    T x = align ? from_zero / 2 * (length - 1) : (from_zero * length - 1) / 2;
    if constexpr (kMode == GridMode::kNearest) x = nearest_whole(x);
    if constexpr (kBorder) x = x < T(-4) ? T(-4) : x > length + 3 ? length + 3 : x;  // beyond, all that is read is the border
    // What is no number reads zeros, as does what is far outside; within 2^30 places fit their type.
    const bool usable = x > T(-0x1p30) && x < T(0x1p30);
    const T inside = usable ? x : T(0);
    const auto whole = static_cast<int32_t>(inside);
    const bool below = static_cast<T>(whole) > inside;  // conversion rounds towards zero
    const int32_t first = whole - below - (kMode == GridMode::kCubic);
    const T fraction = inside - (static_cast<T>(whole) - static_cast<T>(below));
    T weight[4] = {1};
    if constexpr (kMode == GridMode::kLinear) weight[0] = 1 - fraction, weight[1] = fraction;
    if constexpr (kMode == GridMode::kCubic) {
      T slope[4];
      cubic_weights(fraction, weight, slope);
    }
    for (int t = 0; t < kTaps; ++t) {
      const int32_t place = first + t, moved = !kBorder ? place : place < 0 ? 0 : place > size - 1 ? size - 1 : place;
      const bool read = usable && moved >= 0 && moved < size;
      out.place[t][j] = read ? moved * stride : -1;
      out.weight[t][j] = read ? weight[t] : T(0);
    }
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

template <bool kBorder, class T>
void axis_tables_of(GridMode mode, const GridLine& line, const T* coordinate, int64_t count, AxisTables<T>& out) {
  switch (mode) {
    case GridMode::kNearest:
      return axis_tables<GridMode::kNearest, kBorder>(line, coordinate, count, out);
    case GridMode::kLinear:
      return axis_tables<GridMode::kLinear, kBorder>(line, coordinate, count, out);
    case GridMode::kCubic:
      return axis_tables<GridMode::kCubic, kBorder>(line, coordinate, count, out);
  }
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
    const GridLine line{shape.in[a], stride, rules.align_corners};
    if (rules.padding == GridPadding::kReflection)
      reflected_tables(rules, line, coordinate, tables.count, axis[a]);
    else if (rules.padding == GridPadding::kBorder)
      axis_tables_of<true>(rules.mode, line, coordinate, tables.count, axis[a]);
    else
      axis_tables_of<false>(rules.mode, line, coordinate, tables.count, axis[a]);
    stride *= shape.in[a];
  }
  combine_axes(axis, tables);
}

template void fill_grid_tables(const GridRules&, const GridShape&, const float*, const SampleTables<float>&);
template void fill_grid_tables(const GridRules&, const GridShape&, const double*, const SampleTables<float>&);
template void fill_grid_tables(const GridRules&, const GridShape&, const float*, const SampleTables<double>&);
template void fill_grid_tables(const GridRules&, const GridShape&, const double*, const SampleTables<double>&);

}  // namespace svengine::ops
