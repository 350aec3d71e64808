// Pooling windows in NCHWc: a vector is the channels of one position. A row's inner outputs, whose windows have all columns,
// are taken several at a time; the others one by one with the columns that exist.
#include "engine/kernels/sve/pool/blocked.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::pool {

namespace {

constexpr int kMostPixels = 8;

template <PoolKind kKind, int kPixels>
void run_tile(const Tile& tile) {
  const vb all = svptrue_b32();
  vf results[kPixels];
  SVENGINE_UNROLL
  for (int p = 0; p < kPixels; ++p) results[p] = svdup_f32(Op<kKind>::kStart);
  for (int64_t kz = tile.planes.begin; kz < tile.planes.end; ++kz) {
    for (int64_t ky = tile.rows.begin; ky < tile.rows.end; ++ky) {
      const float* row = tile.input + kz * tile.plane_step + ky * tile.row_step;
      for (int64_t kx = tile.columns.begin; kx < tile.columns.end; ++kx) {
        const float* x = row + kx * tile.column_step;
        SVENGINE_UNROLL
        for (int p = 0; p < kPixels; ++p, x += tile.pixel_step)
          results[p] = Op<kKind>::add(results[p], svld1(all, x), tile.power);
      }
    }
  }
  const vf scale = svdup_f32(tile.scale);
  SVENGINE_UNROLL
  for (int p = 0; p < kPixels; ++p) svst1(all, tile.output + p * kLanes, Op<kKind>::end(results[p], scale, tile.power));
}

struct TileFunctions {
  TileFunction at[kMostPixels];  // at[n - 1] computes n outputs
};

template <PoolKind kKind, int kPixels = kMostPixels>
constexpr TileFunctions functions_for() {
  TileFunctions functions{};
  if constexpr (kPixels > 1) functions = functions_for<kKind, kPixels - 1>();
  functions.at[kPixels - 1] = &run_tile<kKind, kPixels>;
  return functions;
}

constexpr TileFunctions kFunctions[] = {functions_for<PoolKind::kMax>(), functions_for<PoolKind::kAverage>(),
                                        functions_for<PoolKind::kLp>()};

float scale_of(const PoolArgs& args, int64_t above_columns, int64_t x) {
  const PoolShape& s = args.shape;
  const int64_t columns = counted(args.count_padding, s.in.width, s.kernel.width, s.dilation.width, x * s.stride.width - s.pad.width,
                                  s.pad.width, s.pad_end.width);
  return 1.0f / static_cast<float>(above_columns * columns);
}

/// `tile` describes output 0 of the row; `above_columns` is what it counts in depth and height.
void run_any_row(const PoolArgs& args, const Range& inner, int64_t above_columns, const Tile& tile) {
  const PoolShape& s = args.shape;
  const TileFunctions& functions = kFunctions[static_cast<int>(args.kind)];
  const auto at = [&](int64_t x) {
    Tile moved = tile;
    moved.input += x * tile.pixel_step;
    moved.output += x * kLanes;
    moved.scale = scale_of(args, above_columns, x);
    return moved;
  };
  const auto border = [&](int64_t begin, int64_t end) {
    for (int64_t x = begin; x < end; ++x) {
      Tile pixel = at(x);
      pixel.columns = taps_inside(s.in.width, s.kernel.width, s.dilation.width, x * s.stride.width - s.pad.width);
      functions.at[0](pixel);
    }
  };
  border(0, inner.begin);
  const int64_t tiles = ceil_div(inner.size(), kMostPixels);
  for (int64_t i = 0, x = inner.begin; i < tiles; ++i) {
    const int64_t end = inner.begin + (i + 1) * inner.size() / tiles;
    functions.at[end - x - 1](at(x));
    x = end;
  }
  border(inner.end, s.out.width);
}

}  // namespace

void run_blocked(const PoolArgs& args, int64_t begin, int64_t end) {
  if (begin >= end) return;
  const PoolShape& s = args.shape;
  const Range inner = inner_outputs(s.in.width, s.out.width, s.kernel.width, s.stride.width, s.dilation.width, s.pad.width);
  const int64_t row_floats = s.in.width * kLanes;
  const int64_t blocks = ceil_div(s.channels, kLanes), rows = s.out.depth * s.out.height;
  const MaxRow max_row = max_row_for(args);
  BlockRows at(begin, blocks, rows);
  for (int64_t task = begin; task < end; ++task, at.next()) {
    const int64_t plane = at.image * blocks + at.block;
    const int64_t z = at.row / s.out.height * s.stride.depth - s.pad.depth;
    const int64_t y = at.row % s.out.height * s.stride.height - s.pad.height;
    Tile tile{};
    tile.input = args.input + (((plane * s.in.depth + z) * s.in.height + y) * s.in.width - s.pad.width) * kLanes;
    tile.output = args.output + (plane * rows + at.row) * s.out.width * kLanes;
    tile.planes = taps_inside(s.in.depth, s.kernel.depth, s.dilation.depth, z);
    tile.rows = taps_inside(s.in.height, s.kernel.height, s.dilation.height, y);
    tile.columns = {0, s.kernel.width};
    tile.plane_step = s.dilation.depth * s.in.height * row_floats;
    tile.row_step = s.dilation.height * row_floats;
    tile.column_step = s.dilation.width * kLanes;
    tile.pixel_step = s.stride.width * kLanes;
    tile.power = args.power;
    if (max_row) {
      max_row(args, tile);
      continue;
    }
    const int64_t above_columns =
        counted(args.count_padding, s.in.depth, s.kernel.depth, s.dilation.depth, z, s.pad.depth, s.pad_end.depth) *
        counted(args.count_padding, s.in.height, s.kernel.height, s.dilation.height, y, s.pad.height, s.pad_end.height);
    run_any_row(args, inner, above_columns, tile);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::pool
