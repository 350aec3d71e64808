// Maxima in NCHWc over windows of a width and stride known at compile time. It does not matter in which order maxima are taken, so
// a column of the input is reduced once for all windows that share it (width 3, stride 2):
//
//      rows      | | | | | | |        every column's maximum over the window's rows
//                0 1 2 3 4 5 6
//      output    \_0_/                 then of as many columns as a window is wide
//                    \_1_/
//
// Two maxima and three loads a column and two an output, where a window by itself takes nine. A row's first and last columns may lie
// outside the image.
#include "engine/kernels/sve/pool/blocked.h"
#include "engine/kernels/sve/even_partition.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::pool {

namespace {

/// Columns that fit the registers.
constexpr int kMostColumns = kMachine.vector_registers * 3 / 4;

constexpr int most_pixels(int width, int stride) { return (kMostColumns - width) / stride + 1; }

template <int kColumns>
struct Columns {
  vf at[kColumns];
};

/// f(j) for all columns that exist.
template <int kPixels, int kWidth, int kStride, class F>
SVENGINE_INLINE void for_columns(Range exist, const F& f) {
  SVENGINE_UNROLL
  for (int j = 0; j < (kPixels - 1) * kStride + kWidth; ++j)
    if (!is_missing<kPixels, kWidth, kStride>(j, exist)) f(j);
}

template <int kPixels, int kWidth, int kStride>
void run_max(const Tile& tile) {
  constexpr int kColumns = (kPixels - 1) * kStride + kWidth;
  const vb all = svptrue_b32();
  Columns<kColumns> columns;
  SVENGINE_UNROLL
  for (int j = 0; j < kColumns; ++j) columns.at[j] = vdup(Op<PoolKind::kMax>::kStart);
  const float* plane = tile.input + tile.planes.begin * tile.plane_step + tile.rows.begin * tile.row_step;
  for (int64_t kz = tile.planes.begin; kz < tile.planes.end; ++kz, plane += tile.plane_step) {
    const float* x = plane;
    int64_t left = tile.rows.size();
    if (left > 0 && kz == tile.planes.begin) {  // the first row needs no maximum
      for_columns<kPixels, kWidth, kStride>(tile.columns,
                                            [&](int j) SVENGINE_INLINE_LAMBDA { columns.at[j] = svld1(all, x + j * kLanes); });
      x += tile.row_step;
      --left;
    }
    for (; left > 0; --left, x += tile.row_step)
      for_columns<kPixels, kWidth, kStride>(tile.columns, [&](int j) SVENGINE_INLINE_LAMBDA {
        columns.at[j] = vmax(columns.at[j], svld1(all, x + j * kLanes));
      });
  }
  SVENGINE_UNROLL
  for (int p = 0; p < kPixels; ++p) {
    vf result = columns.at[p * kStride];
    SVENGINE_UNROLL
    for (int k = 1; k < kWidth; ++k) result = vmax(result, columns.at[p * kStride + k]);
    svst1(all, tile.output + p * kLanes, result);
  }
}

template <int kWidth, int kStride, int kPixels = most_pixels(kWidth, kStride)>
void run_pixels(int64_t pixels, const Tile& tile) {
  if constexpr (kPixels > 1) {
    if (pixels < kPixels) return run_pixels<kWidth, kStride, kPixels - 1>(pixels, tile);
  }
  run_max<kPixels, kWidth, kStride>(tile);
}

template <int kWidth, int kStride>
void run_row(const PoolArgs& args, Tile& tile) {
  const PoolShape& s = args.shape;
  const int64_t tiles = ceil_div(s.out.width, most_pixels(kWidth, kStride));
  const EvenPartition partition(s.out.width, tiles);
  int64_t column = -s.pad.width;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t pixels = partition.size(i);
    tile.columns = {-column, s.in.width - column};
    run_pixels<kWidth, kStride>(pixels, tile);
    tile.input += pixels * tile.pixel_step;
    tile.output += pixels * kLanes;
    column += pixels * kStride;
  }
}

}  // namespace

MaxRow max_row_for(const PoolArgs& args) {
  const PoolShape& s = args.shape;
  const int64_t missing = (s.out.width - 1) * s.stride.width - s.pad.width + s.kernel.width - s.in.width;
  const bool usual = args.kind == PoolKind::kMax && s.dilation.width == 1 && s.out.width > 0 && s.pad.width < s.kernel.width &&
                     missing < s.kernel.width;
  if (!usual) return nullptr;
  if (s.kernel.width == 3 && s.stride.width == 1) return &run_row<3, 1>;
  if (s.kernel.width == 3 && s.stride.width == 2) return &run_row<3, 2>;
  if (s.kernel.width == 2 && s.stride.width == 2) return &run_row<2, 2>;
  return nullptr;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::pool
