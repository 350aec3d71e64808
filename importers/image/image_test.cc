#include "importers/image/image.h"

#include <catch2/catch.hpp>

#include <array>
#include <functional>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace image_test {
using namespace svengine;
using Catch::Matchers::Contains;

namespace {

using Pixel = std::array<int, 3>;

std::string encode(int width, int height, const std::function<Pixel(int x, int y)>& at, bool jpeg = false) {
  std::vector<uint8_t> data;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c : at(x, y)) data.push_back(static_cast<uint8_t>(c));
  std::string out;
  const auto append = [](void* to, void* bytes, int size) {
    static_cast<std::string*>(to)->append(static_cast<char*>(bytes), static_cast<size_t>(size));
  };
  if (jpeg) stbi_write_jpg_to_func(append, &out, width, height, 3, data.data(), 95);
  else stbi_write_png_to_func(append, &out, width, height, 3, data.data(), width * 3);
  return out;
}

std::string plain(int width, int height, Pixel pixel) {
  return encode(width, height, [&](int, int) { return pixel; });
}

Result<Tensor> parse(const std::string& bytes, const ImageOptions& options = {}) {
  return parse_image(std::as_bytes(std::span(bytes.data(), bytes.size())), options);
}

std::string problem(const std::string& bytes, const ImageOptions& options = {}) {
  const Result<Tensor> tensor = parse(bytes, options);
  REQUIRE_FALSE(tensor.ok());
  return tensor.error().message();
}

/// Element (c, y, x) of a [1, C, H, W] tensor.
float at(const Tensor& t, int64_t c, int64_t y, int64_t x) {
  return t.data<float>()[static_cast<size_t>((c * t.dims()[2] + y) * t.dims()[3] + x)];
}

const std::string kPosition = encode(6, 4, [](int x, int y) { return Pixel{10 * x, 10 * y, 200}; });

}  // namespace

TEST_CASE("channels become planes, scaled and normalised") {
  const Result<Tensor> unit = parse(kPosition);
  REQUIRE(unit.ok());
  CHECK(unit->dims() == Dims{1, 3, 4, 6});
  CHECK(at(*unit, 0, 2, 5) == 50 * (1.0f / 255));
  CHECK(at(*unit, 1, 2, 5) == 20 * (1.0f / 255));
  const Result<Tensor> caffe = parse(kPosition, {.bgr = true, .unit_range = false, .mean = {104, 117, 124}});
  REQUIRE(caffe.ok());
  CHECK(at(*caffe, 0, 2, 5) == 200 - 104);
  CHECK(at(*caffe, 2, 2, 5) == 50 - 124);
  const Result<Tensor> normal = parse(kPosition, {.unit_range = false, .mean = {10}, .std = {2, 4, 5}});
  REQUIRE(normal.ok());
  CHECK(at(*normal, 0, 2, 5) == 20);
  CHECK(at(*normal, 1, 2, 5) == 2.5f);
  CHECK(at(*normal, 2, 2, 5) == 38);
  const Result<Tensor> grey = parse(plain(2, 2, {80, 80, 80}), {.channels = 1, .unit_range = false});
  REQUIRE(grey.ok());
  CHECK(grey->dims() == Dims{1, 1, 2, 2});
  CHECK(at(*grey, 0, 1, 1) == 80);
  const Result<Tensor> bytes = parse(kPosition, {.channels_last = true, .type = DType::u8});
  REQUIRE(bytes.ok());
  CHECK(bytes->dims() == Dims{1, 4, 6, 3});
  CHECK(bytes->data<uint8_t>()[(2 * 6 + 5) * 3 + 1] == 20);
}

TEST_CASE("crops are taken from the centre, halves to the even side") {
  const Result<Tensor> crop = parse(kPosition, {.crop_width = 2, .crop_height = 1, .unit_range = false});
  REQUIRE(crop.ok());
  CHECK(crop->dims() == Dims{1, 3, 1, 2});
  CHECK(at(*crop, 0, 0, 0) == 20);  // margin 4: column 2
  CHECK(at(*crop, 1, 0, 0) == 20);  // margin 3: 1.5 becomes row 2
  const Result<Tensor> odd = parse(kPosition, {.crop_width = 5, .crop_height = 4, .unit_range = false});
  CHECK(at(*odd, 0, 0, 0) == 0);  // margin 1: 0.5 becomes column 0
}

TEST_CASE("sizes: exact, or of the shorter side") {
  const std::string wide = plain(30, 20, {255, 0, 7});
  CHECK(parse(wide, {.shorter_side = 10})->dims() == Dims{1, 3, 10, 15});
  CHECK(parse(wide, {.shorter_side = 7})->dims() == Dims{1, 3, 7, 10});
  const Result<Tensor> exact = parse(wide, {.width = 64, .height = 64, .unit_range = false});
  REQUIRE(exact.ok());
  CHECK(exact->dims() == Dims{1, 3, 64, 64});
  CHECK(at(*exact, 0, 31, 17) == 255);
  CHECK(at(*exact, 2, 63, 0) == 7);
  CHECK(parse(wide, {.shorter_side = 10, .crop_width = 8, .crop_height = 8})->dims() == Dims{1, 3, 8, 8});
}

TEST_CASE("shrinking averages, as bilinear filters with antialiasing do") {
  const std::string stripes = encode(32, 8, [](int x, int) { return x % 2 ? Pixel{200, 200, 200} : Pixel{0, 0, 0}; });
  const Result<Tensor> half = parse(stripes, {.width = 8, .height = 2, .unit_range = false});
  REQUIRE(half.ok());
  // Only at the border, where the outermost pixels count more, does it not come out even.
  for (int64_t x = 0; x < 8; ++x) CHECK(at(*half, 1, 1, x) == Approx(100).margin(x == 0 || x == 7 ? 20 : 1));
}

TEST_CASE("JPEG files are read to within their compression") {
  const auto slope = [](int x, int y) { return Pixel{4 * x + 20, 8 * y + 20, 90}; };
  const Result<Tensor> image = parse(encode(32, 16, slope, true), {.unit_range = false});
  REQUIRE(image.ok());
  CHECK(image->dims() == Dims{1, 3, 16, 32});
  CHECK(at(*image, 0, 8, 20) == Approx(100).margin(8));
  CHECK(at(*image, 1, 8, 20) == Approx(84).margin(8));
}

TEST_CASE("tables of Huffman codes that are too long for the decoder are refused, wherever it comes to them") {
  const auto black = [](int, int) { return Pixel{}; };
  const std::string good = encode(8, 8, black, true), tables = "\xff\xc4";
  const size_t at = good.find(tables);
  REQUIRE(at != std::string::npos);
  std::string bad = good;
  bad.replace(at + 5, 2, "\xff\xff");  // as many codes of one and of two bits
  CHECK_THAT(problem(bad), Contains("Huffman"));
  // In front of the file's own is what fills: the decoder skips it.
  CHECK_THAT(problem(good.substr(0, 2) + "\xff\xff" + bad.substr(2)), Contains("Huffman"));
  const std::string comment("\xff\xfe\x00\x12", 4);
  CHECK(parse(good.substr(0, 2) + comment + bad.substr(at, 16) + good.substr(2)).ok());
}

TEST_CASE("damaged and hostile images, and impossible options, are refused") {
  CHECK_THAT(problem(""), Contains("neither a PNG nor a JPEG"));
  CHECK_THAT(problem("GIF89a"), Contains("neither a PNG nor a JPEG"));
  std::string huge = kPosition;
  huge.replace(16, 8, std::string("\x00\x10\x00\x00\x00\x10\x00\x00", 8));
  CHECK_FALSE(parse(huge).ok());
  std::string large = kPosition;
  large.replace(16, 8, std::string("\x00\x00\x40\x00\x00\x00\x40\x00", 8));
  CHECK_THAT(problem(large), Contains("16384x16384"));
  for (size_t n = 0; n < kPosition.size() - 12; ++n) CHECK_FALSE(parse(kPosition.substr(0, n)).ok());
  CHECK_THAT(problem(kPosition, {.channels = 4}), Contains("1 or 3 channels"));
  CHECK_THAT(problem(kPosition, {.width = 3}), Contains("needs width and height"));
  CHECK_THAT(problem(kPosition, {.shorter_side = 3, .width = 3, .height = 3}), Contains("not to both"));
  CHECK_THAT(problem(kPosition, {.shorter_side = -3}), Contains("negative"));
  CHECK_THAT(problem(kPosition, {.shorter_side = 1 << 30}), Contains("pixels"));
  CHECK_THAT(problem(kPosition, {.width = 1 << 30, .height = 1 << 30}), Contains("pixels"));
  CHECK_THAT(problem(kPosition, {.crop_width = 7, .crop_height = 1}), Contains("cannot be cropped from an image of 6x4"));
  CHECK_THAT(problem(kPosition, {.mean = {1, 2}}), Contains("2 means"));
  CHECK_THAT(problem(kPosition, {.std = {0}}), Contains("not above 0"));
  CHECK_THAT(problem(kPosition, {.type = DType::i64}), Contains("float32 or uint8"));
}
}  // namespace image_test
