#include "importers/image/image.h"

#include <algorithm>
#include <type_traits>

#include "engine/base/image_decode.h"
#include "engine/base/memory.h"

namespace svengine {
namespace {

Result<Pixels> resized(Pixels image, const ImageOptions& o) {
  int64_t width = o.width, height = o.height;
  if (o.shorter_side) {
    // Rounds down, as torchvision does.
    const int64_t shorter = std::min(image.width, image.height), wanted = o.shorter_side;
    width = std::max<int64_t>(1, image.width * wanted / shorter);
    height = std::max<int64_t>(1, image.height * wanted / shorter);
  }
  if (width == 0 || (width == image.width && height == image.height)) return image;
  if (width > kMostPixels || height > kMostPixels || width * height > kMostPixels)
    return error("an image of {}x{} has more than {} pixels", width, height, kMostPixels);
  return resize_image(image, static_cast<int>(width), static_cast<int>(height));
}

/// A window of the image, top left corner at (x, y).
struct Window {
  int x = 0, y = 0, width = 0, height = 0;
};

/// Half of it, halves rounded to the even number: what torchvision does.
int half(int margin) { return margin / 2 + (margin % 2 && (margin / 2) % 2 ? 1 : 0); }

Result<Window> cropped(const Pixels& image, const ImageOptions& o) {
  if (!o.crop_width) return Window{0, 0, image.width, image.height};
  if (o.crop_width > image.width || o.crop_height > image.height)
    return error("{}x{} cannot be cropped from an image of {}x{}", o.crop_width, o.crop_height, image.width, image.height);
  return Window{half(image.width - o.crop_width), half(image.height - o.crop_height), o.crop_width, o.crop_height};
}

float for_channel(const std::vector<float>& values, size_t channel, float default_value) {
  return values.empty() ? default_value : values[values.size() == 1 ? 0 : channel];
}

template <class T>
void fill(const Pixels& image, const Window& window, const ImageOptions& o, T* out) {
  const size_t channels = static_cast<size_t>(o.channels), width = static_cast<size_t>(window.width), height = static_cast<size_t>(window.height);
  for (size_t c = 0; c < channels; ++c) {
    const size_t source = o.bgr ? channels - 1 - c : c;
    const float scale = o.unit_range ? 1.0f / 255.0f : 1.0f;
    const float mean = for_channel(o.mean, c, 0), deviation = for_channel(o.std, c, 1);
    for (size_t y = 0; y < height; ++y) {
      const size_t row = (static_cast<size_t>(window.y) + y) * static_cast<size_t>(image.width) + static_cast<size_t>(window.x);
      for (size_t x = 0; x < width; ++x) {
        const uint8_t value = image.data[(row + x) * channels + source];
        T& to = out[o.channels_last ? (y * width + x) * channels + c : (c * height + y) * width + x];
        if constexpr (std::is_same_v<T, float>) to = (static_cast<float>(value) * scale - mean) / deviation;
        else to = value;
      }
    }
  }
}

}  // namespace

Status check_image_options(const ImageOptions& o) {
  const auto one_for_each = [&](const std::vector<float>& v) {
    return v.empty() || v.size() == 1 || v.size() == static_cast<size_t>(o.channels);
  };
  if (o.channels != 1 && o.channels != 3) return error("images have 1 or 3 channels, not {}", o.channels);
  if (o.shorter_side < 0 || o.width < 0 || o.height < 0 || o.crop_width < 0 || o.crop_height < 0)
    return error("image sizes cannot be negative");
  if ((o.width > 0) != (o.height > 0)) return error("an exact size needs width and height");
  if ((o.crop_width > 0) != (o.crop_height > 0)) return error("a crop needs width and height");
  if (o.shorter_side && o.width) return error("an image is resized to a shorter side or to an exact size, not to both");
  if (!one_for_each(o.mean)) return error("{} means are given, needs 1 or {}", o.mean.size(), o.channels);
  if (!one_for_each(o.std)) return error("{} standard deviations are given, needs 1 or {}", o.std.size(), o.channels);
  for (float s : o.std)
    if (!(s > 0)) return error("standard deviation {} is not above 0", s);
  if (o.type != DType::f32 && o.type != DType::u8) return error("images become float32 or uint8, not {}", name_of(o.type));
  return {};
}

Result<Tensor> parse_image(std::span<const std::byte> bytes, const ImageOptions& options) {
  SV_TRY(check_image_options(options));
  SV_ASSIGN(Pixels image, decode_image(bytes, options.channels));
  SV_ASSIGN(image, resized(std::move(image), options));
  SV_ASSIGN(const Window window, cropped(image, options));
  const Dims planes{1, options.channels, window.height, window.width}, pixels{1, window.height, window.width, options.channels};
  SV_ASSIGN(MutableTensor out, Tensor::allocate(options.type, options.channels_last ? pixels : planes));
  if (options.type == DType::f32) fill(image, window, options, out.data<float>().data());
  else fill(image, window, options, out.data<uint8_t>().data());
  return out;
}

Result<Tensor> load_image(const std::string& path, const ImageOptions& options) {
  SV_ASSIGN(const auto file, MappedFile::open(path));
  Result<Tensor> tensor = parse_image(file->bytes(), options);
  if (!tensor.ok()) return std::move(tensor).error().in(path);
  return tensor;
}

}  // namespace svengine
