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

/// No image has more pixels; larger ones are refused before they are decoded.
inline constexpr int64_t kMostPixels = int64_t{1} << 26;

enum class ImageFormats : uint8_t {
  photographs,  // PNG and JPEG
  all,          // those, BMP, PGM and PPM
};

/// As `channels` channels: 1 is grey, 3 red, green, blue. Never takes more memory than some small multiple of kMostPixels.
Result<Pixels> decode_image(std::span<const std::byte> bytes, int channels, ImageFormats formats = ImageFormats::photographs);

/// Triangle filter, widened when shrinking: what Pillow's and torchvision's "bilinear" does with antialiasing, but for the
/// border, where this repeats the outermost pixels and those leave them out.
Result<Pixels> resize_image(const Pixels& in, int width, int height);

}  // namespace svengine
