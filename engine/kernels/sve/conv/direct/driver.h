// Walks a bundle of output blocks over a stretch of tiles, pass after pass.
#pragma once
#include "engine/kernels/sve/conv/direct/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

/// Where the image ends, per tap: the output rows and columns for which each kernel row and column lies inside. Lives in
/// scratch memory, with room for a tile's masks.
struct Borders {
  const Range* rows;     // [kernel_height]
  const Range* columns;  // [kernel_width]
  Range inner_rows, inner_columns;  // every tap inside
  uint32_t* row_masks;
  uint32_t* column_masks;
};

int64_t border_bytes(const Plan& plan);
Borders find_borders(const Plan& plan, void* scratch);

/// One bundle's operands, for image 0.
struct Bundle {
  const float* input;     // of the group
  const float* weights;
  const float* bias;      // [vectors][kLanes]
  const float* residual;  // null: none
  float* output;
  int vectors;
  ActivationArgs activation;
};

/// Computes tiles [begin, end) of a bundle; tile indices count through the images.
void run_tiles(const Plan& plan, const Borders& borders, const Bundle& bundle, int64_t begin, int64_t end);

/// Group `group`, bundle `bundle` of a call; the input is left to the caller.
Bundle make_bundle(const Plan& plan, const ConvArgs& args, int64_t group, int64_t bundle, int64_t image);

// A sequence: tiles that share a bundle's weights, a stretch of an image or all tiles of all images. A task is some tiles of a
// sequence.

constexpr int64_t bundle_tasks(const Plan& plan) { return plan.stretch_tiles / plan.task_tiles; }

constexpr int64_t sequence_tasks(const Plan& plan, int64_t batch) {
  return plan.groups * plan.bundles * (plan.bundles_outside ? 1 : batch * plan.stretches()) * bundle_tasks(plan);
}

/// Which stretch, bundle and so on a sequence is. Walks on without dividing: a division takes as long as a step of a tile.
struct SequencePlace {
  int64_t bundle, group, stretch, image;  // image: 0 if bundles are outside

  SequencePlace(const Plan& plan, int64_t stretches, int64_t sequence) {
    bundle = sequence % plan.bundles, sequence /= plan.bundles;
    group = sequence % plan.groups, sequence /= plan.groups;
    stretch = sequence % stretches, image = sequence / stretches;
  }

  void advance(const Plan& plan, int64_t stretches) {
    if (++bundle < plan.bundles) return;
    bundle = 0;
    if (++group < plan.groups) return;
    group = 0;
    if (++stretch < stretches) return;
    stretch = 0;
    ++image;
  }
};

/// Calls run(bundle, first tile, end) for tasks [begin, end), the bundle's input being a part of `input`.
template <class Run>
void for_bundles(const Plan& plan, const ConvArgs& args, const float* input, int64_t begin, int64_t end, Run run) {
  const int64_t in_sequence = bundle_tasks(plan);
  const int64_t tiles = plan.bundles_outside ? args.shape.batch * plan.tiles : plan.tiles;
  const int64_t stretches = plan.bundles_outside ? 1 : plan.stretches();
  SequencePlace place(plan, stretches, begin / in_sequence);
  int64_t first = begin % in_sequence;
  for (int64_t task = begin; task < end; first = 0, place.advance(plan, stretches)) {
    const int64_t count = smaller(end - task, in_sequence - first);
    const int64_t at = place.stretch * plan.stretch_tiles + first * plan.task_tiles;
    const int64_t last = smaller(at + count * plan.task_tiles, tiles);
    task += count;
    if (at >= last) continue;  // the last stretch may be shorter
    Bundle bundle = make_bundle(plan, args, place.group, place.bundle, place.image);
    bundle.input = input + place.image * plan.image_step + place.group * plan.in_blocks * plan.block_step;
    run(bundle, at, last);
  }
}

/// Packs bundle `task % bundles` of group `task / bundles` from [O][I][KH][KW] into
/// [group][bundle][I / block_channels][KH][KW][channel of the block][vectors][kLanes].
void pack_bundle(const Plan& plan, const ConvShape& shape, int64_t block_channels, int64_t task, const float* weights,
                 float* packed);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
