// What a chunk of pixels sees of the input, and its dy, as a weight gradient's tiles read them.
#pragma once
#include "engine/kernels/sve/conv/weight_grad/plan.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

/// Pixels [begin, end) of images [image, image + images); all pixels where there are several images.
struct PixelChunk {
  int64_t image, images, begin, end;
  constexpr int64_t pixels() const { return images * (end - begin); }
};

constexpr PixelChunk chunk_at(const WeightPlan& plan, const ConvShape& shape, int64_t chunk) {
  if (plan.image_chunks == 1) {
    const int64_t image = chunk * plan.chunk_images;
    return {image, smaller(plan.chunk_images, shape.batch - image), 0, plan.pixels};
  }
  const int64_t i = chunk % plan.image_chunks;
  return {chunk / plan.image_chunks, 1, i * plan.pixels / plan.image_chunks, (i + 1) * plan.pixels / plan.image_chunks};
}

/// dy of a group of `vectors` output blocks, the first being `block`: to [pixels][vectors][kLanes]. Of an exchanged problem dy is
/// the forward pass's input, of which the strides leave some pixels out.
void copy_gradient(const ConvWeightGradArgs& args, const WeightPlan& plan, const PixelChunk& chunk, int64_t block, int64_t vectors,
                   float* to);

/// Input block `unit` through tap (ky, kx): to [pixels][kLanes].
void copy_tap(const ConvWeightGradArgs& args, const WeightPlan& plan, const PixelChunk& chunk, int64_t unit, int64_t ky, int64_t kx, float* to);

/// A plain input through all taps: to [pixels][rows].
void copy_plain_taps(const ConvWeightGradArgs& args, const WeightPlan& plan, const PixelChunk& chunk, float* to);

/// sums[v] (+)= the pixels of block v, from [pixels][vectors][kLanes]; they start from zero if `first`.
void add_pixels(const float* from, int64_t pixels, int64_t vectors, float* sums, bool first);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
