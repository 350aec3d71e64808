// Byte 0 chooses the options.
#include "importers/image/image.h"

#include "engine/base/image_decode.h"
#include "fuzz/support.h"

namespace svengine::fuzz {

void fuzz_image(Bytes input) {
  Reader reader(input);
  const auto flags = reader.take<uint8_t>();
  const std::vector<std::byte> bytes(reader.rest().begin(), reader.rest().end());
  ImageOptions options;
  options.channels = flags & 1 ? 1 : 3;
  if (flags & 2) options.shorter_side = 8;
  if (flags & 4) options.crop_width = options.crop_height = 8;
  if (flags & 8) options.type = DType::u8;
  options.channels_last = flags & 16;
  options.bgr = flags & 32 && options.channels == 3;
  // Large pictures are allowed, but take long under sanitizers.
  constexpr size_t kMostPixels = 1 << 20;
  const auto pixels = taken(decode_image(bytes, options.channels, ImageFormats::all));
  if (!pixels) return;
  if (pixels->data.size() != size_t(pixels->width) * size_t(pixels->height) * size_t(pixels->channels)) finding("pixels are missing");
  if (pixels->data.size() > kMostPixels) return;
  if (const auto tensor = taken(parse_image(bytes, options))) read_all(*tensor);
}

}  // namespace svengine::fuzz
