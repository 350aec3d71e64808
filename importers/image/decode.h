// Decoding and resizing of 8-bit images: the borders of the stb library.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/status.h"

namespace svengine {

/// Rows from the top, channels interleaved.
struct Pixels {
  int width = 0, height = 0, channels = 0;
  std::vector<uint8_t> data;
};

/// PNG and JPEG only. Never takes more memory than some small multiple of kMostPixels.
Result<Pixels> decode_image(std::span<const std::byte> bytes, int channels);

/// Triangle filter, widened when shrinking: what Pillow's and torchvision's "bilinear" does with antialiasing, but for the
/// border, where this repeats the outermost pixels and those leave them out.
Result<Pixels> resize_image(const Pixels& in, int width, int height);

}  // namespace svengine
