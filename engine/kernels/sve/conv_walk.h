// Walks a bundle of output blocks over a stretch of tiles, pass after pass.
#pragma once
#include "engine/kernels/sve/conv_tile.h"

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
  const float* bias;      // null: none
  const float* residual;  // null: none
  float* output;
  int vectors;
  ActivationArgs activation;
};

/// Computes tiles [begin, end) of a bundle; tile indices count through the images.
void run_tiles(const Plan& plan, const Borders& borders, const Bundle& bundle, int64_t begin, int64_t end);

/// Group `group`, bundle `bundle` of a call; the input is left to the caller.
Bundle make_bundle(const Plan& plan, const ConvArgs& args, int64_t group, int64_t bundle, int64_t image);

/// Packs bundle `task % bundles` of group `task / bundles` from [O][I][KH][KW] into
/// [group][bundle][I / block_channels][KH][KW][channel of the block][vectors][kLanes].
void pack_bundle(const Plan& plan, const ConvShape& shape, int64_t block_channels, int64_t task, const float* weights,
                 float* packed);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
