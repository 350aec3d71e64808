#include "engine/base/image_decode.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "engine/base/jpeg_check.h"

namespace {

// A PNG can claim to unpack to any size: stb asks for the memory as it goes, and gets no more than this.
constexpr size_t kMostMemory = size_t{1} << 30;

// Zeros: stb reads tables that a JPEG has not brought with it.
void* bounded_malloc(size_t size) { return size > kMostMemory ? nullptr : std::calloc(size, 1); }
void* bounded_realloc(void* memory, size_t size) { return size > kMostMemory ? nullptr : std::realloc(memory, size); }

// stb copies the empty first chunk of a PNG to where it has no memory yet, which memcpy forbids, of no bytes too.
void* copy_bytes(void* to, const void* from, size_t count) { return count ? std::memcpy(to, from, count) : to; }

}  // namespace

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_PNM
#define STBI_NO_STDIO
#define STBI_MALLOC(size) bounded_malloc(size)
#define STBI_REALLOC(memory, size) bounded_realloc(memory, size)
#define STBI_FREE(memory) std::free(memory)
#define STB_IMAGE_RESIZE_STATIC
#define STB_IMAGE_RESIZE_IMPLEMENTATION
// It asserts that a filter's weights sum up to nearly 1 before it divides by the sum; shrinking 5 pixels to 3 has a sum of 1.11.
#define STBIR_ASSERT(condition) ((void)(condition))
#define STBIR_MALLOC(size, context) ((void)(context), bounded_malloc(size))
#define STBIR_FREE(memory, context) ((void)(context), std::free(memory))
#define memcpy copy_bytes
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>
#pragma GCC diagnostic pop
#undef memcpy

namespace svengine {
namespace {

struct Free {
  void operator()(stbi_uc* memory) const { std::free(memory); }
};

bool starts_with(std::span<const std::byte> bytes, std::string_view start) {
  return bytes.size() >= start.size() && std::memcmp(bytes.data(), start.data(), start.size()) == 0;
}

/// Whether a number in the header of a PGM or PPM (width, height, largest sample; '#' begins a comment) is beyond stb's int.
bool has_huge_pnm_number(std::string_view file) {
  constexpr size_t kMostDigits = 9;
  size_t at = 2;
  for (int number = 0; number < 3; ++number) {
    while (at < file.size() && (file[at] == '#' || std::string_view(" \t\n\v\f\r").find(file[at]) != std::string_view::npos))
      at = file[at] == '#' ? std::min(file.find_first_of("\r\n", at), file.size()) : at + 1;
    const size_t end = std::min(file.find_first_not_of("0123456789", at), file.size());
    if (end - std::min(at, end) > kMostDigits) return true;
    at = end;
  }
  return false;
}

}  // namespace

Result<Pixels> decode_image(std::span<const std::byte> bytes, int channels, ImageFormats formats) {
  if (bytes.size() > kMostMemory) return error("the image has {} bytes; at most {} are read", bytes.size(), kMostMemory);
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  // Whatever begins so may be taken for a JPEG.
  if (starts_with(bytes, "\xff") && !has_good_huffman_tables(bytes)) return error("the image is damaged (a table of Huffman codes is too long)");
  if (starts_with(bytes, "P") && has_huge_pnm_number({reinterpret_cast<const char*>(data), bytes.size()}))
    return error("the PGM or PPM image is damaged (a size of more than 9 digits)");
  Pixels out;
  int in_file = 0;
  const bool photograph = starts_with(bytes, "\x89PNG") || starts_with(bytes, "\xff\xd8");
  const bool known = (photograph || formats == ImageFormats::all) && stbi_info_from_memory(data, size, &out.width, &out.height, &in_file);
  if (!known && formats == ImageFormats::photographs) return error("is neither a PNG nor a JPEG image");
  if (!known) return error("is no PNG, JPEG, BMP, PGM or PPM image (TIFF, WebP and JPEG 2000 are not decoded)");
  if (out.width < 1 || out.height < 1 || static_cast<int64_t>(out.width) * out.height > kMostPixels)
    return error("the image is {}x{}; images of 1 to {} pixels are read", out.width, out.height, kMostPixels);
  // stb takes samples of two bytes of these formats for bytes where it changes the channels, and for those of the other byte order elsewhere.
  if (starts_with(bytes, "P") && stbi_is_16_bit_from_memory(data, size))
    return error("the PGM or PPM image has 16 bits a sample; 8 bits are read: convert it, to PNG for example");
  const std::unique_ptr<stbi_uc, Free> pixels(stbi_load_from_memory(data, size, &out.width, &out.height, &in_file, channels));
  if (!pixels) return error("the image is damaged ({})", stbi_failure_reason());
  out.channels = channels;
  out.data.assign(pixels.get(), pixels.get() + static_cast<size_t>(out.width) * static_cast<size_t>(out.height) * static_cast<size_t>(channels));
  return out;
}

Result<Pixels> resize_image(const Pixels& in, int width, int height) {
  Pixels out{width, height, in.channels, {}};
  out.data.resize(static_cast<size_t>(width) * static_cast<size_t>(height) * static_cast<size_t>(in.channels));
  const int done = stbir_resize_uint8_generic(in.data.data(), in.width, in.height, 0, out.data.data(), width, height, 0, in.channels,
                                              STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP, STBIR_FILTER_TRIANGLE, STBIR_COLORSPACE_LINEAR, nullptr);
  if (!done) return error("no memory to resize an image of {}x{} to {}x{}", in.width, in.height, width, height);
  return out;
}

}  // namespace svengine
