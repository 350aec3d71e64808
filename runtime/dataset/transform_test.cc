#include "runtime/dataset/transform.h"

#include <catch2/catch.hpp>

#include <map>

#include "runtime/dataset/dataset_test_util.h"

namespace transform_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

constexpr int kHeight = 4, kWidth = 5;
const Field kBytes{"image", DType::u8, {2, kHeight, kWidth}}, kFloats{"image", DType::f32, {2, kHeight, kWidth}};

/// Pixel (c, y, x) is 100 c + 10 y + x + 1, so that no pixel is 0.
template <class T>
std::vector<T> numbered() {
  std::vector<T> out;
  for (int c = 0; c < 2; ++c)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) out.push_back(static_cast<T>(100 * c + 10 * y + x + 1));
  return out;
}

template <class T>
std::vector<float> apply(const ImageTransform& transform, uint64_t seed) {
  const std::vector<T> in = numbered<T>();
  std::vector<float> out(static_cast<size_t>(element_count(transform.output().dims)));
  transform.apply(reinterpret_cast<const std::byte*>(in.data()), RandomStream(seed), reinterpret_cast<std::byte*>(out.data()));
  return out;
}

/// What a crop at (top, left) of the unpadded image must give, pixels counted as they are.
std::vector<float> expected(int top, int left, int height, int width, bool flip) {
  std::vector<float> out;
  for (int c = 0; c < 2; ++c)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int from_y = top + y, from_x = left + (flip ? width - 1 - x : x);
        const bool inside = from_y >= 0 && from_y < kHeight && from_x >= 0 && from_x < kWidth;
        out.push_back(inside ? static_cast<float>(100 * c + 10 * from_y + from_x + 1) : 0);
      }
  return out;
}

}  // namespace

TEST_CASE("the centre is cropped and normalised, for bytes and for floats") {
  const ImageTransformOptions options{.crop_height = 2, .crop_width = 3, .mean = {0.5f, 0.25f}, .std = {2, 4}};
  const ImageTransform bytes = must(ImageTransform::create(options, kBytes)),
                       floats = must(ImageTransform::create(options, kFloats));
  CHECK(bytes.output() == Field{"image", DType::f32, {2, 2, 3}});
  const std::vector<float> crop = expected(1, 1, 2, 3, false), from_bytes = apply<uint8_t>(bytes, 1),
                           from_floats = apply<float>(floats, 1);
  for (size_t i = 0; i < crop.size(); ++i) {
    const float mean = i < 6 ? 0.5f : 0.25f, std = i < 6 ? 2.0f : 4.0f;
    CHECK(from_bytes[i] == Approx((crop[i] / 255 - mean) / std));
    CHECK(from_floats[i] == Approx((crop[i] - mean) / std));
  }
}

TEST_CASE("random crops are windows of the padded image, all of them, and flipped half the time") {
  const ImageTransformOptions options{
      .pad = 2, .crop_height = 3, .crop_width = 4, .random_crop = true, .random_flip = true, .scale = 1};
  const ImageTransform transform = must(ImageTransform::create(options, kBytes));
  std::map<std::vector<float>, int> windows;
  for (int top = -2; top <= 3; ++top)
    for (int left = -2; left <= 3; ++left)
      for (bool flip : {false, true}) windows[expected(top, left, 3, 4, flip)] = 0;
  REQUIRE(windows.size() == 72);
  for (uint64_t seed = 0; seed < 7200; ++seed) {
    const auto found = windows.find(apply<uint8_t>(transform, seed));
    REQUIRE(found != windows.end());
    ++found->second;
  }
  for (const auto& [window, count] : windows) CHECK(std::abs(count - 100) < 45);  // 4.5 deviations
  CHECK(apply<uint8_t>(transform, 3) == apply<uint8_t>(transform, 3));
}

TEST_CASE("padding is black before normalisation") {
  const ImageTransformOptions options{.pad = 9, .crop_height = 1, .crop_width = 23, .mean = {0.5f}, .std = {0.25f}};
  for (const Field& field : {kBytes, kFloats}) {
    const ImageTransform transform = must(ImageTransform::create(options, field));
    CHECK((field.type == DType::u8 ? apply<uint8_t>(transform, 0) : apply<float>(transform, 0))[0] == -2);
  }
}
}  // namespace transform_test
