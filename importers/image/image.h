// PNG and JPEG files as input tensors of image networks.
//
// Order of the steps: decode to 8 bits a channel; resize (bilinear with antialiasing); crop the centre; then, for float32,
// y = (x * scale - mean) / std for each channel, where scale is 1/255 or 1.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/base/tensor.h"

namespace svengine {

struct ImageOptions {
  int channels = 3;             // 3: colour; 1: grey. An alpha channel is dropped.
  int shorter_side = 0;         // > 0: resize so that the shorter side has this length, keeping the aspect ratio
  int width = 0, height = 0;    // both > 0: resize to exactly this; not together with shorter_side
  int crop_width = 0, crop_height = 0;  // both > 0: then take this much from the centre
  bool bgr = false;             // blue first, as Caffe's networks have it; mean and std are in the order of the output
  bool unit_range = true;       // 0..1 before mean and std; false: 0..255
  std::vector<float> mean = {};  // one for each channel, or one for all, or none: 0
  std::vector<float> std = {};   // likewise; none: 1
  bool channels_last = false;   // [1, H, W, C] instead of [1, C, H, W]
  DType type = DType::f32;      // or u8: 0..255, without mean and std
};

/// Refuses what cannot be for any image; the functions below do so too.
Status check_image_options(const ImageOptions& options);

Result<Tensor> load_image(const std::string& path, const ImageOptions& options = {});
Result<Tensor> parse_image(std::span<const std::byte> bytes, const ImageOptions& options = {});

}  // namespace svengine
