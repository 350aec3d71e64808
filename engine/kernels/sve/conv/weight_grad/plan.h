// How the sums of a weight gradient are cut up. Everything here depends on shapes and the machine's numbers only.
//
// Pixels go in chunks: so many that a chunk's dy of one group of output blocks and its panel of the input stay in the L1 cache.
//
//                     dy of a chunk        dy is copied once for all units, so that it is one stream and its blocks do not meet
//                     [pixels][V][c]       in the same cache sets; the panel of a unit and tap holds the input values that the
//      panel         +-----------+         chunk's pixels see through that tap, borders filled with zeros. It serves a band of
//      [pixels][c]   | tile      | ...     groups, whose dy together stays in L2.
//      of a tap      | 6 x V     |
//                    +-----------+         sums[part][out group][row][V][c], rows (i, ky, kx) as in ONNX
//
// A unit is one input block. Of a plain input there is one unit and one panel for all taps: [pixels][rows].
//
// A 1 x 1 layer is the same problem with dy and the input exchanged. Then the sums are [part][output channel][input channel], in
// ONNX order already, and one part is written where it belongs; and dy, whose pixels are all read, is its own panel.
#pragma once
#include "engine/kernels/conv_grad.h"
#include "engine/kernels/sve/conv/direct/plan.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

struct WeightPlan {
  int64_t taps, rows;     // of dw, as a matrix [O][rows]
  int64_t out_blocks, out_groups;
  int64_t band_groups, bands;  // groups that share a panel
  int64_t units;
  int64_t columns;        // floats of a panel's pixel
  bool exchanged;         // input and dy have changed places; so have the channels below
  bool direct;            // the image is its own panel
  int64_t pixels;         // of an image
  int64_t image_chunks;   // of an image, or 1
  int64_t chunk_images;   // more than 1 only if image_chunks is 1
  int64_t chunk_pixels;   // of a chunk at most
  int64_t chunks, parts;

  /// Output blocks of a group.
  constexpr int64_t vectors(int64_t group) const { return smaller(kMostVectors, out_blocks - group * kMostVectors); }
  constexpr int64_t part_floats() const { return out_blocks * kLanes * rows; }
  /// From a part's beginning to a group's sums, and between its rows.
  constexpr int64_t group_offset(int64_t group) const { return group * kMostVectors * kLanes * (exchanged ? 1 : rows); }
  constexpr int64_t row_floats(int64_t group) const { return (exchanged ? out_blocks : vectors(group)) * kLanes; }
  /// The sums are dw.
  constexpr bool in_place() const { return exchanged && parts == 1; }
  /// Of all parts.
  constexpr int64_t sum_floats() const { return in_place() ? 0 : parts * part_floats(); }
};

/// Floats of a part's sums of dy alone, which lie behind all sums of products and are added up along with the rest of a part: when its
/// dy is copied or transformed anyway.
constexpr int64_t bias_floats(const ConvWeightGradArgs& args) { return args.bias ? round_up(args.shape.out_channels, kLanes) : 0; }

/// Tasks there should be: two for each of 48 cores.
inline constexpr int64_t kWeightTasks = 96;
/// Bytes of sums that may be spent on parts that only make tasks longer ranges of units.
inline constexpr int64_t kPartBytes = int64_t{4} << 20;

constexpr void cut_pixels(const ConvShape& shape, WeightPlan& plan) {
  // Four fifths of L1: sums pass by, and so does what comes next.
  const int64_t most = larger(kMachine.l1_bytes * 4 / 5 / ((kMostVectors * kLanes + plan.columns) * kFloat), 1);
  plan.pixels = shape.out.height * shape.out.width;
  plan.image_chunks = ceil_div(plan.pixels, most);
  plan.chunk_images = plan.image_chunks > 1 ? 1 : larger(smaller(most / plan.pixels, shape.batch), 1);
  plan.chunk_pixels = ceil_div(plan.pixels, plan.image_chunks) * plan.chunk_images;
  plan.chunks = plan.image_chunks > 1 ? shape.batch * plan.image_chunks : ceil_div(shape.batch, plan.chunk_images);
}

/// Every output sees one input that exists, and the rows of dw are whole vectors.
constexpr bool can_exchange(const ConvWeightGradArgs& args) {
  const ConvShape& s = args.shape;
  return !args.plain_input && s.kernel.height * s.kernel.width == 1 && s.pad.height == 0 && s.pad.width == 0 &&
         (s.out.height - 1) * s.stride.height < s.in.height && (s.out.width - 1) * s.stride.width < s.in.width &&
         s.in_channels % kLanes == 0;
}

/// The problem that the plan is for.
constexpr ConvWeightGradArgs exchange(const ConvWeightGradArgs& args) {
  ConvWeightGradArgs other = args;
  if (!can_exchange(args)) return other;
  other.input = args.dy, other.dy = args.input;
  other.shape.in_channels = args.shape.out_channels, other.shape.out_channels = args.shape.in_channels;
  return other;
}

constexpr WeightPlan weight_plan(const ConvWeightGradArgs& args) {
  const ConvShape shape = exchange(args).shape;
  WeightPlan plan{};
  plan.exchanged = can_exchange(args);
  plan.taps = shape.kernel.height * shape.kernel.width;
  plan.rows = shape.in_channels * plan.taps;
  plan.out_blocks = ceil_div(shape.out_channels, kLanes);
  plan.out_groups = ceil_div(plan.out_blocks, kMostVectors);
  plan.units = args.plain_input ? 1 : ceil_div(shape.in_channels, kLanes);
  plan.columns = args.plain_input ? plan.rows : kLanes;
  cut_pixels(shape, plan);
  plan.direct = plan.exchanged && plan.chunk_images == 1;
  // A fifth of a core's L2: the rest is for sums and what comes next.
  const int64_t group_bytes = plan.chunk_pixels * kMostVectors * kLanes * kFloat;
  plan.band_groups = plan.direct ? 1 : larger(smaller(kMachine.l2_bytes / 5 / group_bytes, plan.out_groups), 1);
  plan.bands = ceil_div(plan.out_groups, plan.band_groups);
  const int64_t needed = ceil_div(kWeightTasks, plan.bands * plan.units), wanted = ceil_div(kWeightTasks, plan.bands);
  const int64_t afforded = kPartBytes / (plan.part_floats() * kFloat);
  plan.parts = larger(smaller(larger(needed, smaller(wanted, afforded)), plan.chunks), 1);
  return plan;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
