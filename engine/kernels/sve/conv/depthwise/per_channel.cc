#include "engine/kernels/sve/conv/depthwise/per_channel.h"

#include "engine/kernels/sve/even_partition.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

template <int kPixels>
struct Sums {
  vf at[kPixels];
};

template <int kPixels>
inline __attribute__((always_inline)) void begin_sums(const LaneTile& tile, Sums<kPixels>& sums) {
  const vb all = svptrue_b32();
  if (!tile.first) {
    SVENGINE_UNROLL
    for (int p = 0; p < kPixels; ++p) sums.at[p] = svld1(all, tile.output + p * kLanes);
    return;
  }
  const vf bias = tile.bias ? svld1(all, tile.bias) : svdup_f32(0.0f);
  SVENGINE_UNROLL
  for (int p = 0; p < kPixels; ++p) sums.at[p] = bias;
  if (!tile.residual) return;
  SVENGINE_UNROLL
  for (int p = 0; p < kPixels; ++p) sums.at[p] = svadd_x(all, bias, svld1(all, tile.residual + p * kLanes));
}

template <int kPixels>
inline __attribute__((always_inline)) void end_sums(const LaneWalk& walk, const LaneTile& tile, Sums<kPixels>& sums) {
  const vb all = svptrue_b32();
  if (tile.last && walk.clamp.below) {
    SVENGINE_UNROLL
    for (int p = 0; p < kPixels; ++p) sums.at[p] = svmax_x(all, sums.at[p], walk.clamp.lowest);
  }
  if (tile.last && walk.clamp.above) {
    SVENGINE_UNROLL
    for (int p = 0; p < kPixels; ++p) sums.at[p] = svmin_x(all, sums.at[p], walk.clamp.highest);
  }
  SVENGINE_UNROLL
  for (int p = 0; p < kPixels; ++p) svst1(all, tile.output + p * kLanes, sums.at[p]);
}

/// Input columns of a tile.
template <int kPixels, int kWidth, int kStride>
inline constexpr int kColumns = (kPixels - 1) * kStride + kWidth;

/// A bit for each of the first kCount positions, set where the range has it. Asked of bits, GCC does not see that columns behind one that
/// exists exist, and does not write a path for every first and last one.
template <int kCount>
inline uint64_t bits_of(Range range) {
  static_assert(kCount < 64);
  const auto below = [](int64_t end) { return (uint64_t{1} << smaller(larger(end, 0), kCount)) - 1; };
  return below(range.end) & ~below(range.begin);
}

/// Which columns of a tile's input may be missing: none, the outermost (see is_missing), or any.
enum class Edge { none, outermost, any };

/// One kernel row of known width and stride, of whose input only `columns` exist.
template <int kPixels, int kWidth, int kStride, Edge kEdge>
inline __attribute__((always_inline)) void multiply_row(const float* x, const float* weights, Range columns, Sums<kPixels>& sums) {
  const vb all = svptrue_b32();
  vf taps[kWidth];
  SVENGINE_UNROLL
  for (int k = 0; k < kWidth; ++k) taps[k] = svld1(all, weights + k * kLanes);
  const uint64_t exist = kEdge == Edge::any ? bits_of<kColumns<kPixels, kWidth, kStride>>(columns) : 0;
  SVENGINE_UNROLL
  for (int j = 0; j < kColumns<kPixels, kWidth, kStride>; ++j) {
    if (kEdge == Edge::outermost && is_missing<kPixels, kWidth, kStride>(j, columns)) continue;
    if (kEdge == Edge::any && (exist >> j & 1) == 0) continue;
    const vf value = svld1(all, x + j * kLanes);
    SVENGINE_UNROLL
    for (int k = 0; k < kWidth; ++k) {
      const int p = (j - k) / kStride;
      if (j >= k && p * kStride + k == j && p < kPixels) sums.at[p] = svmla_x(all, sums.at[p], value, taps[k]);
    }
  }
}

/// One kernel row of any width, stride 1 and dilation 1. Sums, taps of four columns and an input leave registers over.
template <int kPixels, Edge kEdge>
inline __attribute__((always_inline)) void multiply_wide_row(const LaneWalk& walk, const float* x, const float* weights, Range columns,
                                                             Sums<kPixels>& sums) {
  constexpr int kTaps = 4;
  int64_t k = 0;
  for (; k + kTaps <= walk.kernel_width; k += kTaps)
    multiply_row<kPixels, kTaps, 1, kEdge>(x + k * kLanes, weights + k * kLanes, {columns.begin - k, columns.end - k}, sums);
  for (; k < walk.kernel_width; ++k)
    multiply_row<kPixels, 1, 1, kEdge>(x + k * kLanes, weights + k * kLanes, {columns.begin - k, columns.end - k}, sums);
}

/// One kernel row of any width, stride and dilation.
template <int kPixels, Edge kEdge>
inline __attribute__((always_inline)) void multiply_any_row(const LaneWalk& walk, const float* x, const float* weights, Range columns,
                                                            Sums<kPixels>& sums) {
  const vb all = svptrue_b32();
  for (int64_t kx = 0; kx < walk.kernel_width; ++kx) {
    const vf tap = svld1(all, weights + kx * kLanes);
    int64_t column = kx * walk.column_step;
    SVENGINE_UNROLL
    for (int p = 0; p < kPixels; ++p, column += walk.pixel_step) {
      if (kEdge != Edge::none && (column < columns.begin * kLanes || column >= columns.end * kLanes)) continue;
      sums.at[p] = svmla_x(all, sums.at[p], svld1(all, x + column), tap);
    }
  }
}

/// kWidth 0: any width; then kStride 0: any stride and dilation.
template <int kPixels, int kWidth, int kStride, Edge kEdge>
inline __attribute__((always_inline)) void multiply_rows(const LaneWalk& walk, const LaneTile& tile, Sums<kPixels>& sums) {
  const int64_t row_floats = walk.kernel_width * kLanes;
  const float* plane = tile.input;
  const float* plane_weights = tile.weights;
  for (int64_t i = 0; i < walk.planes; ++i, plane += walk.plane_step, plane_weights += walk.kernel_height * row_floats) {
    const float* x = plane + tile.rows.begin * walk.row_step;
    const float* weights = plane_weights + tile.rows.begin * row_floats;
    for (int64_t ky = tile.rows.begin; ky < tile.rows.end; ++ky, x += walk.row_step, weights += row_floats) {
      if constexpr (kWidth > 0)
        multiply_row<kPixels, kWidth, kStride, kEdge>(x, weights, tile.columns, sums);
      else if constexpr (kStride == 1)
        multiply_wide_row<kPixels, kEdge>(walk, x, weights, tile.columns, sums);
      else
        multiply_any_row<kPixels, kEdge>(walk, x, weights, tile.columns, sums);
    }
  }
}

template <int kPixels, int kWidth, int kStride>
void run_tile(const LaneWalk& walk, const LaneTile& tile) {
  Sums<kPixels> sums;
  begin_sums(tile, sums);
  const int64_t columns = kWidth > 0 ? kColumns<kPixels, kWidth, kStride>
                                     : ((kPixels - 1) * walk.pixel_step + (walk.kernel_width - 1) * walk.column_step) / kLanes + 1;
  if (tile.columns.begin <= 0 && tile.columns.end >= columns)
    multiply_rows<kPixels, kWidth, kStride, Edge::none>(walk, tile, sums);
  else
    multiply_rows<kPixels, kWidth, kStride, (kWidth > 0 ? Edge::outermost : Edge::any)>(walk, tile, sums);
  end_sums(walk, tile, sums);
}

template <int kPixels, int kWidth, int kStride>
constexpr void fill(LaneFunctions& functions) {
  if constexpr (kPixels > 0) {
    functions.at[kPixels - 1] = &run_tile<kPixels, kWidth, kStride>;
    fill<kPixels - 1, kWidth, kStride>(functions);
  }
}

template <int kWidth, int kStride>
constexpr LaneFunctions functions_for() {
  LaneFunctions functions{};
  fill<kMostLanePixels, kWidth, kStride>(functions);
  return functions;
}

constexpr LaneFunctions kWidth3Stride1 = functions_for<3, 1>();
constexpr LaneFunctions kWidth3Stride2 = functions_for<3, 2>();
constexpr LaneFunctions kWidth5Stride1 = functions_for<5, 1>();
constexpr LaneFunctions kWidth5Stride2 = functions_for<5, 2>();
constexpr LaneFunctions kWideStride1 = functions_for<0, 1>();
constexpr LaneFunctions kAny = functions_for<0, 0>();

}  // namespace

const LaneFunctions& lane_functions(int64_t kernel_width, int64_t stride_width, int64_t dilation_width, int64_t missing) {
  if (dilation_width != 1 || stride_width > 2) return kAny;
  if (kernel_width == 3 && missing < 3) return stride_width == 1 ? kWidth3Stride1 : kWidth3Stride2;
  if (kernel_width == 5 && missing < 5) return stride_width == 1 ? kWidth5Stride1 : kWidth5Stride2;
  return stride_width == 1 ? kWideStride1 : kAny;
}

LaneWalk lane_walk(const ConvShape& shape, int64_t row_floats, Range columns, const ActivationArgs& activation) {
  LaneWalk walk{};
  walk.planes = 1;
  walk.row_step = row_floats * shape.dilation.height;
  walk.column_step = shape.dilation.width * kLanes;
  walk.pixel_step = shape.stride.width * kLanes;
  walk.kernel_height = shape.kernel.height;
  walk.kernel_width = shape.kernel.width;
  walk.columns = columns;
  walk.clamp = clamp_of(activation);
  return walk;
}

void run_lane_row(const LaneFunctions& functions, const LaneWalk& walk, LaneTile& tile, int64_t outputs) {
  const int64_t tiles = ceil_div(outputs, kMostLanePixels);
  if (tiles == 0) return;
  const EvenPartition partition(outputs, tiles);
  const int64_t step = walk.pixel_step / kLanes;
  int64_t column = 0;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t pixels = partition.size(i);
    tile.columns = {walk.columns.begin - column, walk.columns.end - column};
    functions.at[pixels - 1](walk, tile);
    tile.input += pixels * walk.pixel_step;
    tile.output += pixels * kLanes;
    if (tile.residual) tile.residual += pixels * kLanes;
    column += pixels * step;
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
