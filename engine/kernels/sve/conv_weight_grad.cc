// The gradient of a convolution's weights: conv_grad.h says what, conv_weight_plan.h how.
#include "engine/kernels/conv_grad.h"

#include "engine/kernels/sve/conv_weight_panel.h"
#include "engine/kernels/sve/conv_weight_tile.h"
#include "engine/kernels/sve/data_tile.h"
#include "engine/kernels/sve/gradient_kernels.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

using namespace conv;

int64_t gradient_floats(const WeightPlan& plan) { return plan.chunk_pixels * kMostVectors * kLanes; }

/// What the next chunk reads, a block a tile: those of dy, then those of the input.
struct Ahead {
  const float* dy = nullptr;     // null: there is no next chunk
  const float* input = nullptr;  // null: not read pixel by pixel
  int64_t dy_step = 0, dy_blocks = 0, input_step = 0, input_blocks = 0;
  int64_t tile = 0;

  /// Of the next tile; `otherwise` when all is on its way.
  const float* next(const float* otherwise) {
    const int64_t i = tile++;
    if (dy && i < dy_blocks) return dy + i * dy_step;
    if (input && i - dy_blocks < input_blocks) return input + (i - dy_blocks) * input_step;
    return otherwise;
  }
};

/// What the tiles of a chunk have in common.
struct ChunkSums {
  const float* dy;
  int64_t pixels;
  int64_t vectors;
  float* sums;  // of the part and group
  bool first;
  Ahead ahead;
};

/// `count` columns of a panel, column i being row `row + i * row_stride` of the sums: tiles of nearly the same size.
void run_panel(ChunkSums& chunk, const float* panel, int64_t pitch, int64_t count, int64_t row, int64_t row_stride) {
  const int64_t tiles = ceil_div(count, kMachine.conv_pixels), row_floats = chunk.vectors * kLanes;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t first = tile * count / tiles, channels = (tile + 1) * count / tiles - first;
    weight_tile_function(int(channels), int(chunk.vectors))(
        {panel + first, pitch, chunk.dy, chunk.pixels, chunk.sums + (row + first * row_stride) * row_floats,
         row_stride * row_floats, chunk.first, chunk.ahead.next(chunk.dy)});
  }
}

/// One input block: a panel a tap.
void run_unit(const ConvWeightGradArgs& args, const WeightPlan& plan, const PixelChunk& pixels, ChunkSums& chunk, int64_t unit,
              float* panel) {
  const ConvShape& s = args.shape;
  const int64_t channels = smaller(kLanes, s.in_channels - unit * kLanes), row = unit * kLanes * plan.taps;
  if (plan.direct) {
    const float* image = args.input + ((pixels.image * plan.units + unit) * plan.pixels + pixels.begin) * kLanes;
    return run_panel(chunk, image, kLanes, channels, row, 1);
  }
  for (int64_t tap = 0; tap < plan.taps; ++tap) {
    copy_tap(args, pixels, unit, tap / s.kernel.width, tap % s.kernel.width, panel);
    run_panel(chunk, panel, kLanes, channels, row + tap, plan.taps);
  }
}

Ahead ahead_of(const ConvWeightGradArgs& args, const WeightPlan& plan, const PixelChunk& next, int64_t group, int64_t begin,
               int64_t end) {
  const ConvShape& s = args.shape;
  Ahead ahead;
  ahead.dy_step = plan.pixels * kLanes, ahead.dy_blocks = plan.vectors(group);
  ahead.dy = args.dy + ((next.image * plan.out_blocks + group * kMostVectors) * plan.pixels + next.begin) * kLanes;
  const bool aligned = !args.plain_input && s.stride.height * s.stride.width == 1;
  if (!aligned) return ahead;
  ahead.input_step = s.in.height * s.in.width * kLanes, ahead.input_blocks = end - begin;
  ahead.input = args.input + (next.image * plan.units + begin) * ahead.input_step + next.begin * kLanes;
  return ahead;
}

/// Units [begin, end) of a group of output blocks, over the pixels of a part.
void run_units(const ConvWeightGradArgs& args, const WeightPlan& plan, int64_t part, int64_t group, int64_t begin, int64_t end,
               float* scratch) {
  float* panel = scratch + gradient_floats(plan);
  const int64_t first = part * plan.chunks / plan.parts, last = (part + 1) * plan.chunks / plan.parts;
  for (int64_t i = first; i < last; ++i) {
    const PixelChunk pixels = chunk_at(plan, args.shape, i);
    copy_gradient(args, plan, pixels, group * kMostVectors, plan.vectors(group), scratch);
    ChunkSums chunk{scratch, pixels.pixels(), plan.vectors(group),
                    args.sums + part * plan.part_floats() + plan.group_offset(group), i == first,
                    i + 1 < last ? ahead_of(args, plan, chunk_at(plan, args.shape, i + 1), group, begin, end) : Ahead{}};
    if (args.plain_input) {
      copy_plain_taps(args, plan, pixels, panel);
      run_panel(chunk, panel, plan.columns, plan.rows, 0, 1);
    } else {
      for (int64_t unit = begin; unit < end; ++unit) run_unit(args, plan, pixels, chunk, unit, panel);
    }
  }
}

/// kLanes rows of one output block: parts added up, rows and output channels exchanged.
void finish_square(const ConvWeightGradArgs& args, const WeightPlan& plan, int64_t group, int64_t row, int64_t v) {
  const vb all = svptrue_b32();
  const int64_t step = plan.vectors(group) * kLanes, rows = smaller(kLanes, plan.rows - row);
  const float* from = args.sums + plan.group_offset(group) + row * step + v * kLanes;
  vf square[kLanes];
  SVENGINE_UNROLL
  for (int r = 0; r < kLanes; ++r) square[r] = svld1(all, from + smaller(r, rows - 1) * step);
  for (int64_t part = 1; part < plan.parts; ++part) {
    from += plan.part_floats();
    SVENGINE_UNROLL
    for (int r = 0; r < kLanes; ++r) square[r] = svadd_x(all, square[r], svld1(all, from + smaller(r, rows - 1) * step));
  }
  transpose_registers(square);
  const int64_t out = (group * kMostVectors + v) * kLanes;
  const vb some = svwhilelt_b32(int64_t{0}, rows);
  SVENGINE_UNROLL
  for (int o = 0; o < kLanes; ++o)
    if (out + o < args.shape.out_channels) svst1(some, args.dw + (out + o) * plan.rows + row, square[o]);
}

}  // namespace

int64_t conv_weight_sums_bytes(const ConvWeightGradArgs& args) noexcept {
  const WeightPlan plan = weight_plan(args);
  return plan.parts * plan.part_floats() * kFloat;
}

int64_t conv_weight_sums_scratch(const ConvWeightGradArgs& args) noexcept {
  const WeightPlan plan = weight_plan(args);
  return round_up((gradient_floats(plan) + (plan.direct ? 0 : plan.chunk_pixels * plan.columns)) * kFloat, 256);
}

int64_t conv_weight_sums_tasks(const ConvWeightGradArgs& args) noexcept {
  const WeightPlan plan = weight_plan(args);
  return plan.parts * plan.out_groups * plan.units;
}

/// Units are innermost: a stretch of tasks has dy of a chunk copied once.
void conv_weight_sums_run(const ConvWeightGradArgs& args, int64_t begin, int64_t end, void* scratch) noexcept {
  const WeightPlan plan = weight_plan(args);
  for (int64_t task = begin; task < end;) {
    const int64_t unit = task % plan.units, group = task / plan.units % plan.out_groups;
    const int64_t count = smaller(end - task, plan.units - unit);
    run_units(args, plan, task / plan.units / plan.out_groups, group, unit, unit + count, static_cast<float*>(scratch));
    task += count;
  }
}

int64_t conv_weight_finish_tasks(const ConvWeightGradArgs& args) noexcept {
  const WeightPlan plan = weight_plan(args);
  return plan.out_groups * ceil_div(plan.rows, kLanes);
}

void conv_weight_finish_run(const ConvWeightGradArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const WeightPlan plan = weight_plan(args);
  const int64_t stretches = ceil_div(plan.rows, kLanes);
  for (int64_t task = begin; task < end; ++task)
    for (int64_t v = 0; v < plan.vectors(task / stretches); ++v)
      finish_square(args, plan, task / stretches, task % stretches * kLanes, v);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
