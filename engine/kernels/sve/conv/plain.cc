// ConvKind::kPlain: any convolution with up to three spatial dimensions on plain layouts.
//
// A task computes all output channels of one group for up to kColumns neighbouring output positions; tasks differ by one vector of them at
// most. The inputs of these positions are brought tap by tap into columns (zeros outside the image), then multiplied by the weights
// like a matrix product. Where the positions of a vector lie side by side in the image, as with stride 1 in a row or everywhere in an
// image that keeps its size, a load brings them, else a gather:
//
//                      kColumns positions
//      weights k ->   +---+---+---+---+      as many taps at a time as fit half of the L1 cache; partial sums wait in the
//                     |   columns     |      output. Tile: up to kRows output channels (broadcast) x kVectors vectors.
//                     +---+---+---+---+
#include "engine/kernels/sve/conv/epilogue.h"
#include "engine/kernels/sve/conv/kinds.h"
#include "engine/kernels/sve/even_partition.h"
#include "engine/kernels/sve/tile_row.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

constexpr int kRows = kMachine.conv_pixels;
constexpr int kVectors = kMachine.conv_vectors;
constexpr int kColumns = kVectors * kLanes;
constexpr int64_t kMostDepth = kMachine.l1_bytes / 2 / (kColumns * kFloat);

struct PlainPlan {
  int64_t channels, outs;    // of a group
  int64_t depth;             // of a sum
  int64_t pass_depth;
  int64_t row_tiles;         // of a group
  int64_t in_size, out_size; // of a channel
  int64_t vectors;           // of output positions of a group
  int64_t column_tasks;      // of a group
  bool flat;                 // the columns are the image
};

constexpr PlainPlan plain_plan(const ConvShape& shape) {
  PlainPlan plan{};
  plan.channels = shape.in_channels / shape.groups;
  plan.outs = shape.out_channels / shape.groups;
  plan.depth = plan.channels * shape.kernel.depth * shape.kernel.height * shape.kernel.width;
  plan.pass_depth = smaller(plan.depth, kMostDepth);
  plan.row_tiles = ceil_div(plan.outs, kRows);
  plan.in_size = shape.in.depth * shape.in.height * shape.in.width;
  plan.out_size = shape.out.depth * shape.out.height * shape.out.width;
  plan.vectors = ceil_div(plan.out_size, kLanes);
  plan.column_tasks = ceil_div(plan.vectors, kVectors);
  plan.flat = plan.depth == plan.channels && plan.in_size == plan.out_size && shape.stride.depth == 1 && shape.stride.height == 1 &&
              shape.stride.width == 1 && shape.pad.depth == 0 && shape.pad.height == 0 && shape.pad.width == 0;
  return plan;
}

/// Where the taps (0, 0, 0) of the positions of a task lie, and their columns.
struct Scratch {
  int32_t depth[kColumns], height[kColumns], width[kColumns];
  int32_t index[kColumns];
  bool side_by_side[kVectors];
  float columns[kMostDepth * kColumns];
};

/// Output channels of a group as tiles that differ by a channel at most.
constexpr EvenPartition row_tiles_of(int64_t outs) { return EvenPartition(outs, ceil_div(outs, kRows)); }

int64_t pack_tasks(const ConvPacking& packing) { return packing.groups * ceil_div(packing.out_channels, kRows); }

int64_t packed_floats(const ConvPacking& packing) { return packing.groups * packing.out_channels * packing.in_channels * packing.taps; }

/// [group][row tile][depth][rows of this tile]
void pack(const ConvPacking& packing, const float* weights, float* packed, int64_t begin, int64_t end) {
  const int64_t row_tiles = ceil_div(packing.out_channels, kRows), depth = packing.in_channels * packing.taps;
  const EvenPartition tiles = row_tiles_of(packing.out_channels);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t first = task / row_tiles * packing.out_channels + tiles.begin(task % row_tiles), rows = tiles.size(task % row_tiles);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < depth; ++k) packed[first * depth + k * rows + r] = weights[(first + r) * depth + k];
  }
}

int64_t tasks(const ConvShape& shape) { return shape.batch * shape.groups * plain_plan(shape).column_tasks; }

int64_t scratch_bytes(const ConvShape&) { return sizeof(Scratch); }

/// Positions that do not exist are outside of every image.
void place_columns(const ConvShape& shape, int64_t first, int64_t count, Scratch& scratch) {
  int64_t out_x = first % shape.out.width, out_y = first / shape.out.width % shape.out.height;
  int64_t out_z = first / (shape.out.width * shape.out.height);
  const bool dense = shape.stride.depth == 1 && shape.stride.height == 1 && shape.stride.width == 1;
  const bool same_size = shape.in.width == shape.out.width && (shape.in.height == shape.out.height || shape.out.depth == 1);
  for (int64_t i = 0; i < kColumns; ++i) {
    if (i % kLanes == 0) scratch.side_by_side[i / kLanes] = dense && (same_size || out_x + smaller(kLanes, count - i) <= shape.out.width);
    const int64_t z = out_z * shape.stride.depth - shape.pad.depth, y = out_y * shape.stride.height - shape.pad.height;
    const int64_t x = out_x * shape.stride.width - shape.pad.width;
    scratch.depth[i] = i < count ? int32_t(z) : INT32_MIN / 2;
    scratch.height[i] = int32_t(y), scratch.width[i] = int32_t(x);
    scratch.index[i] = int32_t((z * shape.in.height + y) * shape.in.width + x);
    if (++out_x < shape.out.width) continue;
    out_x = 0;
    if (++out_y < shape.out.height) continue;
    out_y = 0;
    ++out_z;
  }
}

/// The lanes of `among` whose positions, with a tap's shift, are in [0, extent).
vb inside(vb among, const int32_t* positions, int64_t shift, int64_t extent) {
  const vi place = svadd_x(svptrue_b32(), svld1(svptrue_b32(), positions), svdup_s32(int32_t(shift)));
  return svcmplt(svcmpge(among, place, svdup_s32(0)), place, svdup_s32(int32_t(extent)));
}

/// The inputs of one tap at the positions of vector `v`, of `channels` channels: `columns` and `from` are those of the first, the next
/// one's lie `taps` columns further.
void gather_vector(const Scratch& scratch, const PlainPlan& plan, int v, vb inside, int64_t shift, int64_t channels, int64_t taps,
                   const float* from, float* columns) {
  const vb all = svptrue_b32();
  columns += v * kLanes;
  if (scratch.side_by_side[v]) {
    from += scratch.index[v * kLanes] + shift;
    for (int64_t c = 0; c < channels; ++c) svst1(all, columns + c * taps * kColumns, svld1(inside, from + c * plan.in_size));
    return;
  }
  const vi index = svadd_x(all, svld1(all, scratch.index + v * kLanes), svdup_s32(int32_t(shift)));
  for (int64_t c = 0; c < channels; ++c)
    svst1(all, columns + c * taps * kColumns, svld1_gather_index(inside, from + c * plan.in_size, index));
}

/// Columns [begin, end) of a depth of channels alone.
void copy_columns(const PlainPlan& plan, const float* from, int64_t count, int64_t begin, int64_t end, float* columns) {
  const vb all = svptrue_b32();
  for (int v = 0; v < kVectors; ++v) {
    const vb exists = svwhilelt_b32(int64_t(v * kLanes), count);
    for (int64_t k = begin; k < end; ++k)
      svst1(all, columns + (k - begin) * kColumns + v * kLanes, svld1(exists, from + k * plan.in_size + v * kLanes));
  }
}

/// Columns [begin, end) of the depth, which counts taps within channels. Lanes outside the image are 0.
void gather_columns(const ConvShape& shape, const PlainPlan& plan, const float* group, int64_t begin, int64_t end,
                    Scratch& scratch) {
  const ConvExtent& kernel = shape.kernel;
  const int64_t taps = kernel.depth * kernel.height * kernel.width;
  vb planes[kVectors], rows[kVectors];
  int64_t column = (taps - begin % taps) % taps;  // of this tap in its first channel
  for (int64_t z = 0; z < kernel.depth; ++z) {
    for (int v = 0; v < kVectors; ++v)
      planes[v] = inside(svptrue_b32(), scratch.depth + v * kLanes, z * shape.dilation.depth, shape.in.depth);
    for (int64_t y = 0; y < kernel.height; ++y) {
      for (int v = 0; v < kVectors; ++v)
        rows[v] = inside(planes[v], scratch.height + v * kLanes, y * shape.dilation.height, shape.in.height);
      for (int64_t x = 0; x < kernel.width; ++x, column = column + 1 < taps ? column + 1 : 0) {
        if (begin + column >= end) continue;
        const int64_t channels = ceil_div(end - begin - column, taps), shift_x = x * shape.dilation.width;
        const int64_t shift = (z * shape.dilation.depth * shape.in.height + y * shape.dilation.height) * shape.in.width + shift_x;
        const float* from = group + (begin + column) / taps * plan.in_size;
        for (int v = 0; v < kVectors; ++v)
          gather_vector(scratch, plan, v, inside(rows[v], scratch.width + v * kLanes, shift_x, shape.in.width), shift, channels, taps,
                        from, scratch.columns + column * kColumns);
      }
    }
  }
}

struct Product {
  const float* columns;
  const float* weights;   // [depth][rows]
  const float* bias;      // null: none
  const float* residual;  // null: none
  float* output;          // row r at r * step
  int64_t step, depth;
  int64_t count;          // of positions that exist
  bool first, last;
  Clamp clamp;
};

template <int kRowsNow, int kVectorsNow>
void multiply(const Product& product) {
  const vb all = svptrue_b32();
  vb exists[kVectorsNow];
  SVENGINE_UNROLL
  for (int v = 0; v < kVectorsNow; ++v) exists[v] = svwhilelt_b32(int64_t(v * kLanes), product.count);
  vf sums[kRowsNow][kVectorsNow];
  const float* start = product.first ? product.residual : product.output;
  SVENGINE_UNROLL
  for (int r = 0; r < kRowsNow; ++r) {
    const float bias = product.first && product.bias ? product.bias[r] : 0.0f;
    SVENGINE_UNROLL
    for (int v = 0; v < kVectorsNow; ++v) {
      sums[r][v] = svdup_f32(bias);
      if (start) sums[r][v] = svadd_x(all, sums[r][v], svld1(exists[v], start + r * product.step + v * kLanes));
    }
  }
  const float* weights = product.weights;
  const float* columns = product.columns;
  for (int64_t k = product.depth; k > 0; --k, weights += kRowsNow, columns += kColumns) {
    vf column[kVectorsNow];
    SVENGINE_UNROLL
    for (int v = 0; v < kVectorsNow; ++v) column[v] = svld1(all, columns + v * kLanes);
    SVENGINE_UNROLL
    for (int r = 0; r < kRowsNow; ++r) add_row(r, weights + r, column, sums[r]);
  }
  const float lowest = product.clamp.lowest, highest = product.clamp.highest;
  SVENGINE_UNROLL
  for (int r = 0; r < kRowsNow; ++r) {
    SVENGINE_UNROLL
    for (int v = 0; v < kVectorsNow; ++v) {
      vf sum = sums[r][v];
      if (product.last && product.clamp.below) sum = svmax_x(all, sum, lowest);
      if (product.last && product.clamp.above) sum = svmin_x(all, sum, highest);
      svst1(exists[v], product.output + r * product.step + v * kLanes, sum);
    }
  }
}

/// Of a tile of `rows` <= kRowsNow rows and `vectors` <= kVectorsNow vectors.
template <int kRowsNow, int kVectorsNow>
void multiply_tile(const Product& product, int64_t rows, int64_t vectors) {
  if constexpr (kVectorsNow > 1) {
    if (vectors < kVectorsNow) return multiply_tile<kRowsNow, kVectorsNow - 1>(product, rows, vectors);
  }
  if constexpr (kRowsNow > 1) {
    if (rows < kRowsNow) return multiply_tile<kRowsNow - 1, kVectorsNow>(product, rows, vectors);
  }
  multiply<kRowsNow, kVectorsNow>(product);
}

void run_task(const ConvArgs& args, const PlainPlan& plan, int64_t task, Scratch& scratch) {
  const ConvShape& shape = args.shape;
  const EvenPartition columns(plan.vectors, plan.column_tasks);
  const int64_t part = task % plan.column_tasks, first = columns.begin(part) * kLanes;
  const int64_t image_group = task / plan.column_tasks;
  const int64_t group = image_group % shape.groups;
  const float* input = args.input + image_group * plan.channels * plan.in_size;
  const int64_t at = image_group * plan.outs * plan.out_size + first;
  const EvenPartition tiles = row_tiles_of(plan.outs);
  Product product{};
  product.columns = scratch.columns;
  product.step = plan.out_size;
  product.count = smaller(columns.size(part) * kLanes, plan.out_size - first);
  product.clamp = clamp_of(args.activation);
  if (!plan.flat) place_columns(shape, first, product.count, scratch);
  for (int64_t k = 0; k < plan.depth; k += product.depth) {
    product.depth = smaller(plan.pass_depth, plan.depth - k);
    product.first = k == 0;
    product.last = k + product.depth == plan.depth;
    if (plan.flat) copy_columns(plan, input + first, product.count, k, k + product.depth, scratch.columns);
    else gather_columns(shape, plan, input, k, k + product.depth, scratch);
    for (int64_t tile = 0; tile < plan.row_tiles; ++tile) {
      const int64_t row = tiles.begin(tile), rows = tiles.size(tile);
      product.weights = args.weights + (group * plan.outs + row) * plan.depth + k * rows;
      product.bias = args.bias ? args.bias + group * plan.outs + row : nullptr;
      product.residual = args.residual ? args.residual + at + row * plan.out_size : nullptr;
      product.output = args.output + at + row * plan.out_size;
      multiply_tile<kRows, kVectors>(product, rows, columns.size(part));
    }
  }
  if (activates_later(args.activation))
    for (int64_t row = 0; row < plan.outs; ++row)
      activate(args.activation, args.output + at + row * plan.out_size, product.count);
}

void run(const ConvArgs& args, int64_t begin, int64_t end, void* scratch) {
  const PlainPlan plan = plain_plan(args.shape);
  for (int64_t task = begin; task < end; ++task) run_task(args, plan, task, *static_cast<Scratch*>(scratch));
}

}  // namespace

const Kind kPlainKind{one_block_group, packed_floats, pack_tasks, pack, tasks, scratch_bytes, run};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
