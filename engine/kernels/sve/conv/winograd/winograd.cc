// ConvKind::kWinograd: from packed weights to tasks.
#include "engine/kernels/sve/conv/winograd/winograd.h"

#include "engine/kernels/sve/conv/kinds.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

int64_t block_groups(const ConvShape& shape) {
  const WinogradPlan plan = winograd_plan(shape);
  return plan.stored ? plan.block_groups() : 0;
}

int64_t pack_tasks(const ConvPacking& packing) { return ceil_div(packing.out_channels, kLanes); }

int64_t summed_channels(const ConvPacking& packing) {
  return winograd::summed_channels(packing.in_channels, packing.planes, kLanes);
}

int64_t packed_floats(const ConvPacking& packing) {
  return pack_tasks(packing) * summed_channels(packing) * kLanes * (packing.block_groups > 0 ? kFrequencies : kTaps);
}

/// G g G^T in double precision.
void transform_exactly(const float* g, float (&u)[kTileIn][kTileIn]) {
  constexpr double kG[kTileIn][3] = {{1, 0, 0}, {1, 1, 1}, {1, -1, 1}, {1, 2, 4}, {1, -2, 4}, {0, 0, 1}};
  for (int i = 0; i < kTileIn; ++i)
    for (int j = 0; j < kTileIn; ++j) {
      double sum = 0;
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) sum += kG[i][a] * kG[j][b] * double(g[a * 3 + b]);
      u[kFrequencyPlace[i]][kFrequencyPlace[j]] = float(sum);
    }
}

/// Stored: [block_group][frequency][channel][vectors][kLanes]; else [out block][channel][3 x 3][kLanes]. A task is an output block.
void pack(const ConvPacking& packing, const float* weights, float* packed, int64_t begin, int64_t end) {
  const int64_t channels = summed_channels(packing), out_blocks = pack_tasks(packing);
  const int64_t plane_channels = channels / packing.planes;
  const bool stored = packing.block_groups > 0;
  const auto block_group_at = [&](int64_t i) { return stored ? block_group_begin(i, out_blocks, packing.block_groups) : i; };
  int64_t block_group = 0;
  for (int64_t block = begin; block < end; ++block) {
    while (block_group_at(block_group + 1) <= block) ++block_group;
    const int64_t first = block_group_at(block_group), vectors = block_group_at(block_group + 1) - first;
    for (int64_t k = 0; k < channels; ++k)
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const int64_t out = block * kLanes + lane;
        const int64_t plane = k / plane_channels, channel = k % plane_channels;
        const float* g = weights + ((out * packing.in_channels + channel) * packing.planes + plane) * kTaps;
        constexpr float kNothing[kTaps] = {};
        if (out >= packing.out_channels || channel >= packing.in_channels) g = kNothing;
        if (!stored) {
          for (int64_t tap = 0; tap < kTaps; ++tap) packed[((block * channels + k) * kTaps + tap) * kLanes + lane] = g[tap];
          continue;
        }
        float u[kTileIn][kTileIn];
        transform_exactly(g, u);
        float* to = packed + (first * kFrequencies * channels + k * vectors + block - first) * kLanes + lane;
        for (int f = 0; f < kFrequencies; ++f) to[f * channels * vectors * kLanes] = u[f / kTileIn][f % kTileIn];
      }
  }
}

int64_t tasks(const ConvShape& shape) {
  const WinogradPlan plan = winograd_plan(shape);
  return plan.stored ? plan.tiles : plan.groups * plan.out_blocks;
}

/// Tiles for which the stored weights are read once, or blocks for which the inputs are.
int64_t grain(const ConvShape& shape) {
  constexpr int64_t kTiles = 32;
  const WinogradPlan plan = winograd_plan(shape);
  return plan.stored ? kTiles : plan.block_group;
}

int64_t sum_floats(const WinogradPlan& plan) { return kFrequencies * plan.sum_step(); }

int64_t scratch_bytes(const ConvShape& shape) {
  const WinogradPlan plan = winograd_plan(shape);
  const int64_t other = plan.stored ? plan.input_floats()
                        : plan.small_batch  ? 0
                                    : kPairFrequencies * padded_stride(plan.chunk * plan.block_group * kLanes);
  return (sum_floats(plan) + other) * kFloat;
}

/// The products of a group with `vectors` output blocks.
struct Products {
  ProductFunction longer, shorter;
  int vectors;
};

Products products_of(const TileGroup& group, int vectors) {
  const int rows = int(group.rows);
  return {group.longer ? product_function(rows + 1, vectors) : nullptr, product_function(rows, vectors), vectors};
}

/// Weights that will be needed, of which every product prefetches the next range.
struct Prefetch {
  const float *at, *end;

  /// `floats` of them, or `otherwise` when all are on their way.
  const float* next(int64_t floats, const float* otherwise) {
    if (!kMachine.deep_window || end - at < floats) return otherwise;
    const float* range = at;
    at += floats;
    return range;
  }
};

/// sums (+)= x weights at one frequency, for all tiles of a group and channels [first_block * kLanes, + channels).
void multiply(const WinogradPlan& plan, const TileGroup& group, const Products& products, int64_t first_block, int64_t channels,
              const float* x, const float* weights, float* sums, Prefetch& prefetch) {
  for (int64_t part = 0; part < group.parts; ++part) {
    const int64_t rows = group.rows + (part < group.longer);
    const ProductFunction product = part < group.longer ? products.longer : products.shorter;
    product(channels, x + first_block * rows * kLanes, weights, sums, first_block == 0, prefetch.next(channels * kLanes, weights));
    x += rows * plan.in_blocks * kLanes;
    sums += rows * products.vectors * kLanes;
  }
}

void finish(const WinogradPlan& plan, const TileGroup& group, int64_t first_block, int vectors, const float* sums,
            const ConvArgs& args) {
  for (int v = 0; v < vectors; ++v) transform_sums(plan, group, first_block + v, vectors, sums + v * kLanes, args);
}

/// Tiles [begin, end) of the batch, with stored weights.
void run_stored(const WinogradPlan& plan, const ConvArgs& args, int64_t begin, int64_t end, float* sums) {
  float* inputs = sums + sum_floats(plan);
  // Rows of products as even and long as they can be; a group is some whole ones.
  const int64_t count = end - begin, parts = ceil_div(count, plan.rows);
  const int64_t groups = ceil_div(parts, larger(plan.group_tiles / plan.rows, 1));
  const auto tile = [&](int64_t at) { return begin + at * parts / groups * count / parts; };
  for (int64_t at = 0; at < groups; ++at) {
    const TileGroup group = tile_group(plan, tile(at), tile(at + 1));
    for (int64_t block = 0; block < plan.in_blocks; ++block) transform_inputs(plan, group, block, args.input, inputs);
    for (int64_t i = 0; i < plan.block_groups(); ++i) {
      const int64_t first = plan.block_group_begin(i);
      const int vectors = int(plan.block_group_begin(i + 1) - first);
      const float* weights = args.weights + first * kFrequencies * plan.channels * kLanes;
      const Products products = products_of(group, vectors);
      for (int f = 0; f < kFrequencies; ++f) {
        const float* next = weights + plan.channels * vectors * kLanes;
        Prefetch prefetch{next, f + 1 < kFrequencies ? next + plan.channels * vectors * kLanes : next};
        multiply(plan, group, products, 0, plan.channels, inputs + f * plan.input_step(), weights, sums + f * plan.sum_step(), prefetch);
        weights = next;
      }
      finish(plan, group, first, vectors, sums, args);
    }
  }
}

/// Output blocks [first, first + vectors) of a group, whose transformed inputs are in the workspace. As many blocks behind them are
/// prefetched, up to `end`.
void run_block_group(const WinogradPlan& plan, const ConvArgs& args, int64_t group_index, int64_t first, int vectors, int64_t end,
                float* sums) {
  const TileGroup group = tile_group(plan, plan.group_begin(group_index), plan.group_begin(group_index + 1));
  const float* inputs = static_cast<const float*>(args.workspace) + group_index * plan.input_floats();
  float* weights = sums + sum_floats(plan);
  const int64_t weight_step = padded_stride(plan.chunk * vectors * kLanes);
  const int64_t block_step = plan.channels * kTaps * kLanes;
  const Products products = products_of(group, vectors);
  const int64_t next = first + vectors;
  Prefetch prefetch{args.weights + next * block_step, args.weights + smaller(next + vectors, end) * block_step};
  for (int pair = 0; pair < kTileIn / 2; ++pair) {
    for (int64_t k = 0; k < plan.channels; k += plan.chunk) {
      const int64_t channels = smaller(plan.chunk, plan.channels - k);
      const float* from = args.weights + first * block_step + k * kTaps * kLanes;
      transform_weights(pair, channels, vectors, from, block_step, weights, weight_step);
      for (int i = 0; i < kPairFrequencies; ++i) {
        const int64_t f = pair * kPairFrequencies + i;
        multiply(plan, group, products, k / kLanes, channels, inputs + f * plan.input_step(), weights + i * weight_step,
                 sums + f * plan.sum_step(), prefetch);
      }
    }
  }
  finish(plan, group, first, vectors, sums, args);
}

/// Output blocks [begin, end) of all tiles, which are few; their transformed inputs are in the workspace.
void run_small_batch(const WinogradPlan& plan, const ConvArgs& args, int64_t begin, int64_t end, float* sums) {
  const TileGroup group = tile_group(plan, 0, plan.tiles);
  const float* inputs = static_cast<const float*>(args.workspace);
  for (int64_t block = begin; block < end; ++block) {
    for (int64_t k = 0; k < plan.channels; k += plan.chunk) {
      const float* weights = args.weights + (block * plan.channels + k) * kTaps * kLanes;
      const float* x = inputs + k * plan.group_tiles * kTileIn;
      for (int row = 0; row < kTileIn; ++row)
        small_batch_function(row, int(plan.tiles))(smaller(plan.chunk, plan.channels - k), x + row * plan.input_row_step(), weights,
                                           sums + row * kTileIn * plan.sum_step(), plan.sum_step(), k == 0);
    }
    finish(plan, group, block, 1, sums, args);
  }
}

void run(const ConvArgs& args, int64_t begin, int64_t end, void* scratch) {
  const WinogradPlan plan = winograd_plan(args.shape);
  float* sums = static_cast<float*>(scratch);
  if (plan.stored) return run_stored(plan, args, begin, end, sums);
  if (plan.small_batch) return run_small_batch(plan, args, begin, end, sums);
  while (begin < end) {  // a group's blocks, in block groups of even size
    const int64_t group = begin / plan.out_blocks, first = begin % plan.out_blocks;
    const int64_t blocks = smaller(plan.out_blocks - first, end - begin);
    const int64_t block_groups = ceil_div(blocks, plan.block_group);
    for (int64_t i = 0; i < block_groups; ++i) {
      const int64_t at = i * blocks / block_groups;
      run_block_group(plan, args, group, first + at, int((i + 1) * blocks / block_groups - at), first + blocks, sums);
    }
    begin += blocks;
  }
}

/// A task transforms one input block of a group.
int64_t prepare_tasks(const ConvShape& shape) {
  const WinogradPlan plan = winograd_plan(shape);
  return plan.stored ? 0 : plan.groups * plan.in_blocks;
}

int64_t workspace_bytes(const ConvShape& shape) {
  const WinogradPlan plan = winograd_plan(shape);
  return plan.stored ? 0 : plan.groups * plan.input_floats() * kFloat;
}

void prepare(const ConvArgs& args, int64_t begin, int64_t end) {
  const WinogradPlan plan = winograd_plan(args.shape);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t group = task / plan.in_blocks;
    const TileGroup tiles = tile_group(plan, plan.group_begin(group), plan.group_begin(group + 1));
    float* to = static_cast<float*>(args.workspace) + group * plan.input_floats();
    transform_inputs(plan, tiles, task % plan.in_blocks, args.input, to);
  }
}

}  // namespace

const Kind kWinogradKind{block_groups, packed_floats, pack_tasks, pack, tasks, scratch_bytes, run, workspace_bytes, prepare_tasks, prepare, grain};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
