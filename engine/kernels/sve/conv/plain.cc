// ConvKind::kPlain: any convolution with up to three spatial dimensions on plain layouts.
//
// A task computes all output channels of one group for kColumns neighbouring output positions. The inputs of these positions
// are gathered tap by tap into columns (zeros outside the image), then multiplied by the weights like a matrix product:
//
//                      kColumns positions
//      weights k ->   +---+---+---+---+      as many taps at a time as fit half of the L1 cache; partial sums wait in the
//                     |   columns     |      output. Tile: kRows output channels (broadcast) x kVectors vectors.
//                     +---+---+---+---+
#include "engine/kernels/sve/conv/epilogue.h"
#include "engine/kernels/sve/conv/kinds.h"
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
  int64_t column_tasks;      // of a group
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
  plan.column_tasks = ceil_div(plan.out_size, kColumns);
  return plan;
}

/// Where the taps (0, 0, 0) of the positions of a task lie, and their columns.
struct Scratch {
  int32_t depth[kColumns], height[kColumns], width[kColumns];
  int32_t index[kColumns];
  float columns[kMostDepth * kColumns];
};

int64_t pack_tasks(const ConvPacking& packing) { return packing.groups * ceil_div(packing.out_channels, kRows); }

int64_t packed_floats(const ConvPacking& packing) { return pack_tasks(packing) * kRows * packing.in_channels * packing.taps; }

/// [group][row tile][depth][kRows]
void pack(const ConvPacking& packing, const float* weights, float* packed, int64_t begin, int64_t end) {
  const int64_t row_tiles = ceil_div(packing.out_channels, kRows), depth = packing.in_channels * packing.taps;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t group = task / row_tiles;
    const int64_t first = task % row_tiles * kRows;
    float* to = packed + task * depth * kRows;
    for (int64_t r = 0; r < kRows; ++r) {
      const float* from = weights + (group * packing.out_channels + first + r) * depth;
      for (int64_t k = 0; k < depth; ++k) to[k * kRows + r] = first + r < packing.out_channels ? from[k] : 0.0f;
    }
  }
}

int64_t tasks(const ConvShape& shape) { return shape.batch * shape.groups * plain_plan(shape).column_tasks; }

int64_t scratch_bytes(const ConvShape&) { return sizeof(Scratch); }

void place_columns(const ConvShape& shape, int64_t first, int64_t count, Scratch& scratch) {
  for (int64_t i = 0; i < kColumns; ++i) {
    const int64_t q = first + smaller(i, count - 1);
    const int64_t z = q / (shape.out.height * shape.out.width) * shape.stride.depth - shape.pad.depth;
    const int64_t y = q / shape.out.width % shape.out.height * shape.stride.height - shape.pad.height;
    const int64_t x = q % shape.out.width * shape.stride.width - shape.pad.width;
    scratch.depth[i] = int32_t(z), scratch.height[i] = int32_t(y), scratch.width[i] = int32_t(x);
    scratch.index[i] = int32_t((z * shape.in.height + y) * shape.in.width + x);
  }
}

/// The inputs of one tap at all positions.
void gather_tap(const ConvShape& shape, const Scratch& scratch, const float* channel, const ConvExtent& tap, float* column) {
  const vb all = svptrue_b32();
  const int64_t index = (tap.depth * shape.in.height + tap.height) * shape.in.width + tap.width;
  for (int v = 0; v < kVectors; ++v, column += kLanes) {
    const auto place = [&](const int32_t* positions, int64_t shift) {
      return svadd_x(all, svld1(all, positions + v * kLanes), svdup_s32(int32_t(shift)));
    };
    const vi z = place(scratch.depth, tap.depth);
    const vi y = place(scratch.height, tap.height);
    const vi x = place(scratch.width, tap.width);
    vb inside = svcmpge(all, z, svdup_s32(0));
    inside = svcmplt(inside, z, svdup_s32(int32_t(shape.in.depth)));
    inside = svcmpge(inside, y, svdup_s32(0));
    inside = svcmplt(inside, y, svdup_s32(int32_t(shape.in.height)));
    inside = svcmpge(inside, x, svdup_s32(0));
    inside = svcmplt(inside, x, svdup_s32(int32_t(shape.in.width)));
    svst1(all, column, svld1_gather_index(inside, channel, place(scratch.index, index)));  // inactive lanes are 0
  }
}

/// Columns [begin, end) of the depth.
void gather_columns(const ConvShape& shape, const PlainPlan& plan, const float* group, int64_t begin, int64_t end,
                    Scratch& scratch) {
  const ConvExtent& kernel = shape.kernel;
  float* column = scratch.columns;
  for (int64_t k = begin; k < end; ++k, column += kColumns) {
    const ConvExtent tap{k / (kernel.width * kernel.height) % kernel.depth * shape.dilation.depth,
                         k / kernel.width % kernel.height * shape.dilation.height, k % kernel.width * shape.dilation.width};
    const int64_t channel = k / (kernel.width * kernel.height * kernel.depth);
    gather_tap(shape, scratch, group + channel * plan.in_size, tap, column);
  }
}

struct Product {
  const float* columns;
  const float* weights;   // [depth][kRows]
  const float* bias;      // null: none
  const float* residual;  // null: none
  float* output;          // row r at r * step
  int64_t step, depth;
  int64_t rows, count;    // that exist
  bool first, last;
  Clamp clamp;
};

void multiply(const Product& product) {
  const vb all = svptrue_b32();
  vb exists[kVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v) exists[v] = svwhilelt_b32(int64_t(v * kLanes), product.count);
  vf sums[kRows][kVectors];
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const bool row = r < product.rows;
    const float bias = row && product.first && product.bias ? product.bias[r] : 0.0f;
    const float* start = product.first ? product.residual : product.output;
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = svdup_f32(bias);
      if (row && start) sums[r][v] = svadd_x(all, sums[r][v], svld1(exists[v], start + r * product.step + v * kLanes));
    }
  }
  const float* weights = product.weights;
  const float* columns = product.columns;
  for (int64_t k = product.depth; k > 0; --k, weights += kRows, columns += kColumns) {
    vf column[kVectors];
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) column[v] = svld1(all, columns + v * kLanes);
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) add_row(r, weights + r, column, sums[r]);
  }
  const float lowest = product.clamp.lowest, highest = product.clamp.highest;
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    if (r >= product.rows) continue;
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      vf sum = sums[r][v];
      if (product.last && product.clamp.below) sum = svmax_x(all, sum, lowest);
      if (product.last && product.clamp.above) sum = svmin_x(all, sum, highest);
      svst1(exists[v], product.output + r * product.step + v * kLanes, sum);
    }
  }
}

void run_task(const ConvArgs& args, const PlainPlan& plan, int64_t task, Scratch& scratch) {
  const ConvShape& shape = args.shape;
  const int64_t first = task % plan.column_tasks * kColumns;
  const int64_t image_group = task / plan.column_tasks;
  const int64_t group = image_group % shape.groups;
  const float* input = args.input + image_group * plan.channels * plan.in_size;
  const int64_t at = image_group * plan.outs * plan.out_size + first;
  Product product{};
  product.columns = scratch.columns;
  product.step = plan.out_size;
  product.count = smaller(kColumns, plan.out_size - first);
  product.clamp = clamp_of(args.activation);
  place_columns(shape, first, product.count, scratch);
  for (int64_t k = 0; k < plan.depth; k += product.depth) {
    product.depth = smaller(plan.pass_depth, plan.depth - k);
    product.first = k == 0;
    product.last = k + product.depth == plan.depth;
    gather_columns(shape, plan, input, k, k + product.depth, scratch);
    for (int64_t tile = 0; tile < plan.row_tiles; ++tile) {
      const int64_t row = tile * kRows;
      product.rows = smaller(kRows, plan.outs - row);
      product.weights = args.weights + ((group * plan.row_tiles + tile) * plan.depth + k) * kRows;
      product.bias = args.bias ? args.bias + group * plan.outs + row : nullptr;
      product.residual = args.residual ? args.residual + at + row * plan.out_size : nullptr;
      product.output = args.output + at + row * plan.out_size;
      multiply(product);
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
