// The gradient of a convolution's weights: conv_grad.h says what, conv/weight_grad/plan.h how.
#include "engine/kernels/conv_grad.h"

#include "engine/kernels/sve/conv/weight_grad/grouped.h"
#include "engine/kernels/sve/conv/weight_grad/panel.h"
#include "engine/kernels/sve/conv/weight_grad/tile.h"
#include "engine/kernels/sve/conv/weight_grad/winograd.h"
#include "engine/kernels/sve/data/tile.h"
#include "engine/kernels/sve/gradient/kernels.h"
#include "engine/kernels/sve/math/base.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

using namespace conv;

int64_t group_floats(const WeightPlan& plan) { return plan.chunk_pixels * kMostVectors * kLanes; }

/// What the next chunk reads, a block a tile: those of dy, then those of the input.
struct Prefetch {
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

/// What the tiles of a chunk and a group have in common.
struct ChunkSums {
  const float* dy;
  int64_t pixels;
  int64_t vectors;
  float* sums;  // of the part and group
  int64_t row_floats;
  bool first;
};

/// `count` columns of a panel, column i being row `row + i * row_stride` of the sums.
void run_panel(const ChunkSums& chunk, Prefetch& prefetch, const float* panel, int64_t pitch, int64_t count, int64_t row,
               int64_t row_stride) {
  constexpr ChannelTiles kWholeBlock = channel_tiles(kLanes);  // known: a division takes as long as a pixel or two
  const ChannelTiles tiles = count == kLanes ? kWholeBlock : channel_tiles(count);
  const int64_t row_step = row_stride * chunk.row_floats;
  float* sums = chunk.sums + row * chunk.row_floats;
  for (int64_t tile = 0; tile < tiles.tiles; ++tile) {
    const int64_t channels = tiles.each + (tile < tiles.longer ? 1 : 0);
    weight_tile_function(int(channels), int(chunk.vectors))(
        {panel, pitch, chunk.dy, chunk.pixels, sums, row_step, chunk.first, prefetch.next(chunk.dy)});
    panel += channels;
    sums += channels * row_step;
  }
}

/// A band of groups over one chunk.
struct Band {
  const ConvWeightGradArgs& args;
  const WeightPlan& plan;
  const PixelChunk& pixels;
  int64_t first, last;  // groups
  const float* dy;      // of group `first`: copies, group_floats apart
  float* sums;          // of the part
  float* bias;          // likewise
  bool begins;          // the first chunk of the part

  ChunkSums group(int64_t i) const {
    return {dy + (i - first) * group_floats(plan), pixels.pixels(), plan.vectors(i), sums + plan.group_offset(i), plan.row_floats(i),
            begins};
  }
};

/// One input block: a panel a tap.
void run_unit(const Band& band, Prefetch& prefetch, int64_t unit, float* panel) {
  const WeightPlan& plan = band.plan;
  const ConvShape& s = band.args.shape;
  const int64_t channels = smaller(kLanes, s.in_channels - unit * kLanes), row = unit * kLanes * plan.taps;
  const float* image = band.args.input + ((band.pixels.image * plan.units + unit) * plan.pixels + band.pixels.begin) * kLanes;
  for (int64_t tap = 0; tap < plan.taps; ++tap) {
    if (!plan.direct) copy_tap(band.args, plan, band.pixels, unit, tap / s.kernel.width, tap % s.kernel.width, panel);
    if (band.args.bias && plan.exchanged && band.first == 0)  // the panel is dy
      add_pixels(plan.direct ? image : panel, band.pixels.pixels(), 1, band.bias + unit * kLanes, band.begins);
    for (int64_t group = band.first; group < band.last; ++group)
      run_panel(band.group(group), prefetch, plan.direct ? image : panel, kLanes, channels, row + tap, plan.taps);
  }
}

Prefetch prefetch_of(const ConvWeightGradArgs& args, const WeightPlan& plan, const PixelChunk& next, int64_t group, int64_t begin,
               int64_t end) {
  const ConvShape& s = args.shape;
  Prefetch prefetch;
  if (s.stride.height * s.stride.width > 1) return prefetch;
  prefetch.dy_step = plan.pixels * kLanes, prefetch.dy_blocks = plan.vectors(group);
  prefetch.dy = args.dy + ((next.image * plan.out_blocks + group * kMostVectors) * plan.pixels + next.begin) * kLanes;
  if (args.plain_input) return prefetch;
  prefetch.input_step = s.in.height * s.in.width * kLanes, prefetch.input_blocks = end - begin;
  prefetch.input = args.input + (next.image * plan.units + begin) * prefetch.input_step + next.begin * kLanes;
  return prefetch;
}

/// Units [begin, end) of a band, over the pixels of a part; `bias` are the part's sums of dy.
void run_units(const ConvWeightGradArgs& args, const WeightPlan& plan, int64_t part, int64_t band_index, int64_t begin, int64_t end,
               float* bias, float* scratch) {
  float* panel = scratch + plan.band_groups * group_floats(plan);
  const int64_t first = part * plan.chunks / plan.parts, last = (part + 1) * plan.chunks / plan.parts;
  const int64_t group = band_index * plan.band_groups, end_group = smaller(group + plan.band_groups, plan.out_groups);
  float* sums = plan.in_place() ? args.dw : args.sums + part * plan.part_floats();
  for (int64_t i = first; i < last; ++i) {
    const PixelChunk pixels = chunk_at(plan, args.shape, i);
    for (int64_t g = group; g < end_group; ++g) {
      float* dy = scratch + (g - group) * group_floats(plan);
      copy_gradient(args, plan, pixels, g * kMostVectors, plan.vectors(g), dy);
      if (args.bias && !plan.exchanged && begin == 0)
        add_pixels(dy, pixels.pixels(), plan.vectors(g), bias + g * kMostVectors * kLanes, i == first);
    }
    const Band band{args, plan, pixels, group, end_group, scratch, sums, bias, i == first};
    Prefetch prefetch = i + 1 < last ? prefetch_of(args, plan, chunk_at(plan, args.shape, i + 1), group, begin, end) : Prefetch{};
    if (args.plain_input) {
      copy_plain_taps(args, plan, pixels, panel);
      for (int64_t g = group; g < end_group; ++g) run_panel(band.group(g), prefetch, panel, plan.columns, plan.rows, 0, 1);
    } else {
      for (int64_t unit = begin; unit < end; ++unit) run_unit(band, prefetch, unit, panel);
    }
  }
}

/// Elements of dw that a task of adding up parts in ONNX order has.
constexpr int64_t kAddedFloats = 8192;

/// Elements [begin, end) of dw, the parts being in ONNX order.
void add_parts(const ConvWeightGradArgs& args, const WeightPlan& plan, int64_t begin, int64_t end) {
  constexpr int kTogether = 8;  // sums at a time: an addition takes nine cycles on A64FX
  int64_t i = begin;
  const auto add = [&]<int kVectors>() SVENGINE_INLINE_LAMBDA {
    for (; i + (kVectors - 1) * kLanes < end; i += kVectors * kLanes) {
      const vb all = svptrue_b32();
      const float* from = args.sums + i;
      vf sums[kVectors];
      SVENGINE_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[v] = svld1(all, from + v * kLanes);
      for (int64_t part = 1; part < plan.parts; ++part) {
        from += plan.part_floats();
        SVENGINE_UNROLL
        for (int v = 0; v < kVectors; ++v) sums[v] = svadd_x(all, sums[v], svld1(all, from + v * kLanes));
      }
      SVENGINE_UNROLL
      for (int v = 0; v < kVectors; ++v) svst1(all, args.dw + i + v * kLanes, sums[v]);
    }
  };
  add.template operator()<kTogether>();
  add.template operator()<1>();
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

/// The sums that `finish` adds up are cut and ordered alike, whichever way they came about.
WeightPlan finish_plan(const ConvWeightGradArgs& args) {
  WeightPlan plan = weight_plan(args);
  if (winograd_weights_pay(args)) plan.parts = weight_tiles(args.shape).parts;
  return plan;
}

/// Without the one for db.
int64_t weight_finish_tasks(const WeightPlan& plan) {
  if (plan.exchanged) return plan.in_place() ? 0 : ceil_div(plan.part_floats(), kAddedFloats);
  return plan.out_groups * ceil_div(plan.rows, kLanes);
}

void finish_bias(const ConvWeightGradArgs& args, const WeightPlan& plan) {
  const float* from = args.sums + plan.sum_floats();
  for (int64_t o = 0; o < args.shape.out_channels; o += kLanes) {
    const vb some = svwhilelt_b32(o, args.shape.out_channels);
    vf sum = svdup_f32(0.0f);
    for (int64_t part = 0; part < plan.parts; ++part) sum = svadd_x(some, sum, svld1(some, from + part * bias_floats(args) + o));
    svst1(some, args.db + o, sum);
  }
}

}  // namespace

int64_t conv_weight_sums_bytes(const ConvWeightGradArgs& args) noexcept {
  if (args.shape.groups > 1) return grouped_weight_sums_bytes(args);
  const WeightPlan plan = finish_plan(args);
  return (plan.sum_floats() + plan.parts * bias_floats(args)) * kFloat;
}

int64_t conv_weight_sums_scratch(const ConvWeightGradArgs& args) noexcept {
  if (args.shape.groups > 1) return 0;
  if (winograd_weights_pay(args)) return weight_tiles(args.shape).scratch_floats() * kFloat;
  const WeightPlan plan = weight_plan(args);
  return round_up((plan.band_groups * group_floats(plan) + (plan.direct ? 0 : plan.chunk_pixels * plan.columns)) * kFloat, 256);
}

int64_t conv_weight_sums_tasks(const ConvWeightGradArgs& args) noexcept {
  if (args.shape.groups > 1) return grouped_weight_sums_tasks(args);
  if (winograd_weights_pay(args)) {
    const WeightTiles tiles = weight_tiles(args.shape);
    return tiles.parts * tiles.bands * tiles.units;
  }
  const WeightPlan plan = weight_plan(args);
  return plan.parts * plan.bands * plan.units;
}

/// Units are innermost: a range of tasks has dy of a chunk copied once.
void conv_weight_sums_run(const ConvWeightGradArgs& args, int64_t begin, int64_t end, void* scratch) noexcept {
  if (args.shape.groups > 1) return grouped_weight_sums(args, begin, end);
  if (winograd_weights_pay(args)) return winograd_weight_sums(args, begin, end, static_cast<float*>(scratch));
  const WeightPlan plan = weight_plan(args);
  const ConvWeightGradArgs problem = exchange(args);
  for (int64_t task = begin; task < end;) {
    const int64_t unit = task % plan.units, band = task / plan.units % plan.bands;
    const int64_t count = smaller(end - task, plan.units - unit);
    const int64_t part = task / plan.units / plan.bands;
    float* bias = args.sums + plan.sum_floats() + part * bias_floats(args);
    run_units(problem, plan, part, band, unit, unit + count, bias, static_cast<float*>(scratch));
    task += count;
  }
}

int64_t conv_weight_finish_tasks(const ConvWeightGradArgs& args) noexcept {
  if (args.shape.groups > 1) return grouped_weight_finish_tasks(args);
  return weight_finish_tasks(finish_plan(args)) + args.bias;
}

void conv_weight_finish_run(const ConvWeightGradArgs& args, int64_t begin, int64_t end, void*) noexcept {
  if (args.shape.groups > 1) return grouped_weight_finish(args, begin, end);
  const WeightPlan plan = finish_plan(args);
  const int64_t of_weights = weight_finish_tasks(plan);
  if (end > of_weights) finish_bias(args, plan);
  end = smaller(end, of_weights);
  if (begin >= end) return;
  if (plan.exchanged) return add_parts(args, plan, begin * kAddedFloats, smaller(end * kAddedFloats, plan.part_floats()));
  const int64_t row_blocks = ceil_div(plan.rows, kLanes);
  for (int64_t task = begin; task < end; ++task)
    for (int64_t v = 0; v < plan.vectors(task / row_blocks); ++v)
      finish_square(args, plan, task / row_blocks, task % row_blocks * kLanes, v);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
