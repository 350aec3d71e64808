// Walks a block group of output blocks over a strip of tiles, pass after pass.
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

/// One block group's operands, for image 0.
struct BlockGroup {
  const float* input;     // of the group
  const float* weights;
  const float* bias;      // [vectors][kLanes]
  const float* residual;  // null: none
  float* output;
  int vectors;
  ActivationArgs activation;
  Range planes = {0, 1};  // of the kernel: those whose input planes exist
};

/// Computes tiles [begin, end) of a block group; tile indices count through the images.
void run_tiles(const Plan& plan, const Borders& borders, const BlockGroup& block_group, int64_t begin, int64_t end);

/// Group `group`, block group `block_group` of a call; the input is left to the caller.
BlockGroup make_block_group(const Plan& plan, const ConvArgs& args, int64_t group, int64_t block_group, int64_t image);

// A sequence: tiles that share a block group's weights, a strip of an image or all tiles of all images. A task is some tiles of a
// sequence.

constexpr int64_t block_group_tasks(const Plan& plan) { return plan.strip_tiles / plan.task_tiles; }

constexpr int64_t sequence_tasks(const Plan& plan, int64_t batch) {
  return plan.groups * plan.block_groups * (plan.block_groups_outside ? 1 : batch * plan.strips()) * block_group_tasks(plan);
}

/// Which strip, block group and so on a sequence is. Walks on without dividing: a division takes as long as a step of a tile.
struct SequencePlace {
  int64_t block_group, group, strip, image;  // image: 0 if block groups are outside

  SequencePlace(const Plan& plan, int64_t strips, int64_t sequence) {
    block_group = sequence % plan.block_groups, sequence /= plan.block_groups;
    group = sequence % plan.groups, sequence /= plan.groups;
    strip = sequence % strips, image = sequence / strips;
  }

  void advance(const Plan& plan, int64_t strips) {
    if (++block_group < plan.block_groups) return;
    block_group = 0;
    if (++group < plan.groups) return;
    group = 0;
    if (++strip < strips) return;
    strip = 0;
    ++image;
  }
};

/// Calls run(block group, first tile, end) for tasks [begin, end), the block group's input being a part of `input`.
template <class Run>
void for_block_groups(const Plan& plan, const ConvArgs& args, const float* input, int64_t begin, int64_t end, Run run) {
  const int64_t in_sequence = block_group_tasks(plan);
  const int64_t tiles = plan.block_groups_outside ? args.shape.batch * plan.tiles : plan.tiles;
  const int64_t strips = plan.block_groups_outside ? 1 : plan.strips();
  SequencePlace place(plan, strips, begin / in_sequence);
  int64_t first = begin % in_sequence;
  for (int64_t task = begin; task < end; first = 0, place.advance(plan, strips)) {
    const int64_t count = smaller(end - task, in_sequence - first);
    const int64_t at = place.strip * plan.strip_tiles + first * plan.task_tiles;
    const int64_t last = smaller(at + count * plan.task_tiles, tiles);
    task += count;
    if (at >= last) continue;  // the last strip may be shorter
    BlockGroup block_group = make_block_group(plan, args, place.group, place.block_group, place.image);
    block_group.input = input + place.image * plan.image_step + place.group * plan.in_blocks * plan.block_step;
    run(block_group, at, last);
  }
}

/// Packs block group `task % block_groups` of group `task / block_groups` from [O][I][KD][KH][KW] into
/// [group][block_group][KD][I / block_channels][KH][KW][channel of the block][vectors][kLanes].
void pack_block_group(const ConvPacking& packing, int64_t block_channels, int64_t task, const float* weights, float* packed);
/// Of all block groups.
int64_t block_group_floats(const ConvPacking& packing);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
