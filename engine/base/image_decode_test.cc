#include "engine/base/image_decode.h"

#include <catch2/catch.hpp>
#include <string_view>

namespace image_decode_test {
using namespace svengine;

namespace {

Result<Pixels> decode(std::string_view file, int channels) { return decode_image(std::as_bytes(std::span(file)), channels, ImageFormats::all); }

std::string refusal_of(std::string_view file) {
  const auto pixels = decode(file, 3);
  return pixels.ok() ? "" : pixels.error().message();
}

}  // namespace

TEST_CASE("a PGM becomes grey or coloured pixels") {
  const auto grey = decode("P5 2 1 255\n\x10\xf0", 1), coloured = decode("P5 2 1 255\n\x10\xf0", 3);
  REQUIRE(grey.ok());
  CHECK(grey->data == std::vector<uint8_t>{0x10, 0xf0});
  REQUIRE(coloured.ok());
  CHECK(coloured->data == std::vector<uint8_t>{0x10, 0x10, 0x10, 0xf0, 0xf0, 0xf0});
}

TEST_CASE("a PGM that stb would take for another is refused") {
  CHECK(refusal_of("P5 2 1 65535\n\x10\x20\x30\x40").find("16 bits a sample") != std::string::npos);
  CHECK_FALSE(refusal_of("P5 23333333333333 1 255\n\x10").empty());
  CHECK_FALSE(refusal_of("P5 4294967298 1 255\n\x10\xf0").empty());  // 2 in 32 bits
}
}  // namespace image_decode_test
