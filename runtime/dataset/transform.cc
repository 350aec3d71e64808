#include "runtime/dataset/transform.h"

#include <cmath>
#include <cstring>
#include <type_traits>

namespace svengine {
namespace {

float for_channel(const std::vector<float>& values, size_t channel, float default_value) {
  return values.empty() ? default_value : values[values.size() == 1 ? 0 : channel];
}

Status check_numbers(const ImageTransformOptions& o, int64_t channels) {
  const auto one_for_each = [&](const std::vector<float>& v) {
    return v.empty() || v.size() == 1 || v.size() == static_cast<size_t>(channels);
  };
  if (!one_for_each(o.mean)) return error("{} means are given, needs 1 or {}", o.mean.size(), channels);
  if (!one_for_each(o.std)) return error("{} standard deviations are given, needs 1 or {}", o.std.size(), channels);
  for (float m : o.mean)
    if (!std::isfinite(m)) return error("mean {} is not finite", m);
  for (float s : o.std)
    if (!(s > 0) || !std::isfinite(s)) return error("standard deviation {} is not a finite number above 0", s);
  if (!std::isfinite(o.scale) || o.scale < 0) return error("scale {} is not a finite number above 0", o.scale);
  return {};
}

}  // namespace

Result<ImageTransform> ImageTransform::create(const ImageTransformOptions& options, const Field& input) {
  constexpr int64_t kMostSide = int64_t{1} << 20;
  if (input.dims.size() != 3 || (input.type != DType::u8 && input.type != DType::f32))
    return error("'{}' is {}[{}]; images are uint8 or float32[channels x height x width]", input.name, name_of(input.type),
                 to_string(input.dims));
  ImageTransform out;
  out.options_ = options;
  out.input_ = input;
  ImageTransformOptions& o = out.options_;
  const int64_t channels = input.dims[0], height = input.dims[1], width = input.dims[2];
  SV_TRY(check_numbers(o, channels));
  if (o.pad < 0 || o.pad > kMostSide) return error("padding of {} pixels", o.pad);
  if (o.crop_height < 0 || o.crop_width < 0) return error("a crop of {}x{} pixels", o.crop_width, o.crop_height);
  if (o.crop_height == 0) o.crop_height = height;
  if (o.crop_width == 0) o.crop_width = width;
  if (o.crop_height > height + 2 * o.pad || o.crop_width > width + 2 * o.pad)
    return error("{}x{} pixels cannot be cropped from an image of {}x{} with {} pixels of padding", o.crop_width, o.crop_height,
                 width, height, o.pad);
  if (o.scale == 0) o.scale = input.type == DType::u8 ? 1.0f / 255.0f : 1.0f;
  out.output_ = {input.name, DType::f32, {channels, o.crop_height, o.crop_width}};
  if (input.type == DType::u8) {
    for (size_t c = 0; c < static_cast<size_t>(channels); ++c)
      for (int x = 0; x < 256; ++x)
        out.table_.push_back((static_cast<float>(x) * o.scale - for_channel(o.mean, c, 0)) / for_channel(o.std, c, 1));
  }
  return out;
}

ImageTransform::Window ImageTransform::choose(const RandomStream& random) const {
  const int64_t rows = input_.dims[1] + 2 * options_.pad - options_.crop_height,
                columns = input_.dims[2] + 2 * options_.pad - options_.crop_width;
  Window window{rows / 2, columns / 2, options_.random_flip && random.below(2, 2) == 1};
  if (options_.random_crop) {
    window.top = static_cast<int64_t>(random.below(static_cast<uint64_t>(rows) + 1, 0));
    window.left = static_cast<int64_t>(random.below(static_cast<uint64_t>(columns) + 1, 1));
  }
  window.top -= options_.pad;
  window.left -= options_.pad;
  return window;
}

template <class T>
void ImageTransform::copy(const std::byte* in, const Window& window, std::byte* out) const {
  const int64_t channels = input_.dims[0], height = input_.dims[1], width = input_.dims[2], columns = options_.crop_width;
  const auto normal = [&](T x, int64_t c) {
    const auto channel = static_cast<size_t>(c);
    if constexpr (std::is_same_v<T, uint8_t>)
      return table_[channel * 256 + x];
    else
      return (x * options_.scale - for_channel(options_.mean, channel, 0)) / for_channel(options_.std, channel, 1);
  };
  std::vector<float> row(static_cast<size_t>(columns));
  for (int64_t c = 0; c < channels; ++c) {
    const float border = normal(T{0}, c);
    for (int64_t y = 0; y < options_.crop_height; ++y) {
      const int64_t from_y = window.top + y;
      const std::byte* const from = in + static_cast<size_t>((c * height + from_y) * width) * sizeof(T);
      for (int64_t x = 0; x < columns; ++x) {
        const int64_t from_x = window.left + x;
        float value = border;
        if (from_y >= 0 && from_y < height && from_x >= 0 && from_x < width) {
          T pixel;
          std::memcpy(&pixel, from + static_cast<size_t>(from_x) * sizeof(T), sizeof(T));
          value = normal(pixel, c);
        }
        row[static_cast<size_t>(window.flip ? columns - 1 - x : x)] = value;
      }
      std::memcpy(out + static_cast<size_t>((c * options_.crop_height + y) * columns) * sizeof(float), row.data(),
                  row.size() * sizeof(float));
    }
  }
}

void ImageTransform::apply(const std::byte* in, const RandomStream& random, std::byte* out) const {
  const Window window = choose(random);
  if (input_.type == DType::u8)
    copy<uint8_t>(in, window, out);
  else
    copy<float>(in, window, out);
}

}  // namespace svengine
