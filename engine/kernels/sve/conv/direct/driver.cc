#include "engine/kernels/sve/conv/direct/driver.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

constexpr float kNoBias[kMostVectors * kLanes] = {};

/// The next tile: its place among the tiles of its line, its first pixel, and where its output and its row of inputs begin,
/// in floats from image 0 (the row's pixel 0, tap (0, 0), whether or not that is inside the image).
struct Cursor {
  int64_t tile;
  int64_t image, y, x;
  int64_t output, row;
};

void place_cursor(const Plan& plan, int64_t image, int64_t y, int64_t x, Cursor& cursor) {
  cursor.image = image, cursor.y = y, cursor.x = x;
  cursor.output = image * plan.out_image_step + (y * plan.out_width + x) * kLanes;
  cursor.row = image * plan.image_step + (y * plan.stride_height - plan.pad_height) * plan.row_step -
               plan.pad_width * plan.pixel_step;
}

Cursor cursor_at(const Plan& plan, int64_t tile) {
  const int64_t in_image = tile % plan.tiles;
  const int64_t line = in_image / plan.line_tiles;
  Cursor cursor{};
  cursor.tile = in_image % plan.line_tiles;
  const int64_t pixel = cursor.tile * plan.tile_pixels + smaller(cursor.tile, plan.longer_tiles);
  if (plan.lines > 1)
    place_cursor(plan, tile / plan.tiles, line, pixel, cursor);
  else
    place_cursor(plan, tile / plan.tiles, pixel / plan.out_width, pixel % plan.out_width, cursor);
  return cursor;
}

int tile_size(const Plan& plan, const Cursor& cursor) { return int(plan.tile_pixels) + (cursor.tile < plan.longer_tiles); }

void advance(const Plan& plan, int pixels, Cursor& cursor) {
  if (++cursor.tile == plan.line_tiles) cursor.tile = 0;
  cursor.x += pixels;
  cursor.output += pixels * kLanes;
  while (cursor.x >= plan.out_width) {
    cursor.x -= plan.out_width;
    ++cursor.y;
    cursor.row += plan.stride_height * plan.row_step;
  }
  if (cursor.y >= plan.out_height) place_cursor(plan, cursor.image + 1, 0, 0, cursor);
}

uint32_t bits_between(int64_t begin, int64_t end) {  // begin <= end <= 31
  return (1u << end) - (1u << begin);
}

/// Adds the taps of `count` pixels of row y, columns from x on, which are pixels `first`... of the tile.
void mask_segment(const Plan& plan, const Borders& borders, int64_t y, int64_t x, int first, int count) {
  const uint32_t segment = bits_between(first, first + count);
  for (int64_t ky = 0; ky < plan.kernel_height; ++ky)
    if (y >= borders.rows[ky].begin && y < borders.rows[ky].end) borders.row_masks[ky] |= segment;
  for (int64_t kx = 0; kx < plan.kernel_width; ++kx) {
    const int64_t begin = larger(borders.columns[kx].begin, x);
    const int64_t end = smaller(borders.columns[kx].end, x + count);
    if (begin < end) borders.column_masks[kx] |= bits_between(first + begin - x, first + end - x);
  }
}

/// Where a tile's pixels are.
struct PixelOffsets {
  int64_t in_row[kMostPixels];  // of a tile within a row, from its first pixel
  int64_t any[kMostPixels];
};

/// Addresses of the tile at the cursor, and its masks unless it is an inner tile: in a joined pass, all taps inside the image.
/// The function for it.
TileFunction place_tile(const Plan& plan, const Borders& borders, const Cursor& cursor, int pixels,
                        const TileFunctions& functions, PixelOffsets& offsets, Tile& tile) {
  const Range &rows = borders.inner_rows, &columns = borders.inner_columns;
  const bool in_row = cursor.x + pixels <= plan.out_width;
  if (in_row) {
    tile.pixels = offsets.in_row;
    tile.input += cursor.x * plan.stride_width * plan.pixel_step;
    const bool inside = cursor.y >= rows.begin && cursor.y < rows.end && cursor.x >= columns.begin &&
                        cursor.x + pixels <= columns.end;
    if (inside && tile.joined) return functions.row;
  }
  for (int64_t ky = 0; ky < plan.kernel_height; ++ky) borders.row_masks[ky] = 0;
  for (int64_t kx = 0; kx < plan.kernel_width; ++kx) borders.column_masks[kx] = 0;
  bool inner = tile.joined && !in_row;
  for (int64_t done = 0, y = cursor.y, x = cursor.x; done < pixels; ++y, x = 0) {
    const int64_t count = smaller(pixels - done, plan.out_width - x);
    if (!in_row) {
      tile.pixels = offsets.any;
      const int64_t at = (y - cursor.y) * plan.stride_height * plan.row_step + x * plan.stride_width * plan.pixel_step;
      for (int64_t p = 0; p < count; ++p) offsets.any[done + p] = at + offsets.in_row[p];
      inner = inner && y >= rows.begin && y < rows.end && x >= columns.begin && x + count <= columns.end;
    }
    mask_segment(plan, borders, y, x, int(done), int(count));
    done += count;
  }
  return inner ? functions.inner : functions.border;
}

/// Tiles [begin, end) see one pass of the sum.
void run_pass(const Plan& plan, const Borders& borders, const BlockGroup& block_group, int64_t begin, int64_t end, PixelOffsets& offsets,
              Tile& tile) {
  const int64_t pixel_step = plan.stride_width * plan.pixel_step;
  const TileFunctions shorter = tile_functions(int(plan.tile_pixels), block_group.vectors, pixel_step);
  const TileFunctions longer =
      plan.longer_tiles ? tile_functions(int(plan.tile_pixels) + 1, block_group.vectors, pixel_step) : shorter;
  const bool activates = tile.last && activates_later(block_group.activation);
  // The weights of the next pass lie behind those of this one: every unit of every tile asks for its share of them.
  constexpr int64_t kLineFloats = kMachine.line_bytes / kFloat;
  const int64_t unit_floats = plan.kernel_width * plan.runs[1] * block_group.vectors * kLanes;
  tile.prefetch_at = tile.weights + tile.units * unit_floats;
  tile.prefetch_lines = ceil_div(ceil_div(unit_floats, kLineFloats), end - begin);
  const float* prefetch_end = tile.prefetch_at + tile.units * unit_floats;
  Cursor cursor = cursor_at(plan, begin);
  for (int64_t i = begin; i < end; ++i) {
    const int pixels = tile_size(plan, cursor);
    tile.input = block_group.input + cursor.row;
    tile.output = block_group.output + cursor.output;
    tile.residual = block_group.residual ? block_group.residual + cursor.output : nullptr;
    place_tile(plan, borders, cursor, pixels, pixels > plan.tile_pixels ? longer : shorter, offsets, tile)(plan, tile);
    if (activates)
      for (int v = 0; v < block_group.vectors; ++v)
        activate(block_group.activation, tile.output + v * plan.out_block_step, pixels * kLanes);
    tile.prefetch_at += tile.units * tile.prefetch_lines * kLineFloats;
    if (tile.prefetch_at >= prefetch_end) tile.prefetch_lines = 0;
    advance(plan, pixels, cursor);
  }
}

/// Tiles see the passes of a kernel plane, the first or last of the sum as tile.first and `last` say.
void run_plane(const Plan& plan, const Borders& borders, const BlockGroup& block_group, int64_t units, bool last, Range tiles,
               PixelOffsets& offsets, Tile& tile) {
  const int64_t full_units = (plan.in_blocks - 1) * plan.kernel_height;  // in the last block, plan.runs[0] counts
  int64_t unit = 0;
  do {
    tile.first_block = unit / plan.kernel_height;
    tile.first_row = unit % plan.kernel_height;
    tile.units = smaller(plan.pass_units, units - unit);
    tile.full_units = smaller(larger(full_units - unit, 0), tile.units);
    tile.joined = (unit + tile.units - 1) / plan.kernel_height < plan.joined_blocks;
    tile.last = last && unit + tile.units == units;
    tile.weights = block_group.weights + plan.unit_depth(unit) * block_group.vectors * kLanes;
    run_pass(plan, borders, block_group, tiles.begin, tiles.end, offsets, tile);
    unit += tile.units;
    tile.first = false;
  } while (unit < units);
}

}  // namespace

int64_t border_bytes(const Plan& plan) {
  return (plan.kernel_height + plan.kernel_width) * int64_t(sizeof(Range) + sizeof(uint32_t));
}

Borders find_borders(const Plan& plan, void* scratch) {
  Borders borders{};
  Range* rows = static_cast<Range*>(scratch);
  Range* columns = rows + plan.kernel_height;
  borders.rows = rows;
  borders.columns = columns;
  borders.row_masks = reinterpret_cast<uint32_t*>(columns + plan.kernel_width);
  borders.column_masks = borders.row_masks + plan.kernel_height;
  borders.inner_rows = {0, plan.out_height};
  borders.inner_columns = {0, plan.out_width};
  for (int64_t ky = 0; ky < plan.kernel_height; ++ky) {
    rows[ky] = outputs_inside(plan.in_height, plan.out_height, plan.stride_height, ky * plan.dilation_height - plan.pad_height);
    borders.inner_rows = {larger(borders.inner_rows.begin, rows[ky].begin), smaller(borders.inner_rows.end, rows[ky].end)};
  }
  for (int64_t kx = 0; kx < plan.kernel_width; ++kx) {
    columns[kx] = outputs_inside(plan.in_width, plan.out_width, plan.stride_width, kx * plan.dilation_width - plan.pad_width);
    borders.inner_columns = {larger(borders.inner_columns.begin, columns[kx].begin),
                             smaller(borders.inner_columns.end, columns[kx].end)};
  }
  return borders;
}

void run_tiles(const Plan& plan, const Borders& borders, const BlockGroup& block_group, int64_t begin, int64_t end) {
  PixelOffsets offsets;
  for (int p = 0; p < kMostPixels; ++p) offsets.in_row[p] = p * plan.stride_width * plan.pixel_step;
  Tile tile{};
  tile.bias = block_group.bias;
  tile.clamp = clamp_of(block_group.activation);
  tile.row_masks = borders.row_masks;
  tile.column_masks = borders.column_masks;
  for (int64_t block = begin; block < end; block += plan.block_tiles) {
    const int64_t block_end = smaller(block + plan.block_tiles, end);
    int64_t plane = block_group.planes.begin;
    do {  // also where no input plane exists: the sums are then bias and residual
      BlockGroup of_plane = block_group;
      of_plane.input += plane * plan.kernel_plane_step;
      of_plane.weights += plane * plan.depth * block_group.vectors * kLanes;
      tile.first = plane == block_group.planes.begin;
      const bool last = plane + 1 >= block_group.planes.end;
      run_plane(plan, borders, of_plane, block_group.planes.size() > 0 ? plan.units : 0, last, {block, block_end}, offsets, tile);
    } while (++plane < block_group.planes.end);
  }
}

BlockGroup make_block_group(const Plan& plan, const ConvArgs& args, int64_t group, int64_t block_group, int64_t image) {
  const int64_t first = plan.block_group_begin(block_group), block = group * plan.out_blocks + first;
  const int64_t at = image * plan.out_image_step + block * plan.out_block_step;
  BlockGroup made{};
  made.weights = args.weights + block * plan.kernel_depth * plan.depth * kLanes;
  made.bias = args.bias ? args.bias + block * kLanes : kNoBias;
  made.residual = args.residual ? args.residual + at : nullptr;
  made.output = args.output + at;
  made.vectors = int(plan.block_group_begin(block_group + 1) - first);
  made.activation = args.activation;
  return made;
}

int64_t block_group_floats(const ConvPacking& packing) {
  return packing.groups * round_up(packing.out_channels, kLanes) * packing.in_channels * packing.taps;
}

void pack_block_group(const ConvPacking& packing, int64_t block_channels, int64_t task, const float* weights, float* packed) {
  const int64_t channels = packing.in_channels, outs = packing.out_channels, taps = packing.taps;
  const int64_t out_blocks = ceil_div(outs, kLanes);
  const int64_t group = task / packing.block_groups;
  const int64_t block_group = task % packing.block_groups;
  const int64_t first = block_group_begin(block_group, out_blocks, packing.block_groups) * kLanes;
  const int64_t width = block_group_begin(block_group + 1, out_blocks, packing.block_groups) * kLanes - first;
  float* to = packed + (group * out_blocks * kLanes + first) * channels * taps;
  const int64_t plane_taps = taps / packing.planes;
  for (int64_t plane = 0; plane < packing.planes; ++plane)
    for (int64_t block = 0; block < channels; block += block_channels) {
      const int64_t steps = smaller(block_channels, channels - block);
      for (int64_t o = 0; o < width; ++o) {
        const float* from = weights + ((group * outs + first + o) * channels + block) * taps + plane * plane_taps;
        const bool exists = first + o < outs;
        for (int64_t step = 0; step < steps; ++step)
          for (int64_t tap = 0; tap < plane_taps; ++tap)
            to[(tap * steps + step) * width + o] = exists ? from[step * taps + tap] : 0.0f;
      }
      to += plane_taps * steps * width;
    }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
