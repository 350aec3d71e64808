#include "engine/base/narrow_float.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <string>

#include "engine/base/status.h"

namespace narrow_float_test {
using namespace svengine;

namespace {

constexpr DType kFormats[] = {DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz, DType::f8e8m0, DType::f4e2m1};
constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("every byte of every format goes to a number and back") {
  for (const DType format : kFormats) {
    for (int code = 0; code < (format == DType::f4e2m1 ? 16 : 256); ++code) {
      const float value = byte_float_values(format)[code];
      INFO(name_of(format) << " " << code << " " << value);
      const uint8_t back = to_byte_float(format, static_cast<double>(value), {.saturate = false});
      if (std::isnan(value)) CHECK(std::isnan(byte_float_values(format)[back]));
      else CHECK(back == code);
    }
  }
}

TEST_CASE("known values of the formats") {
  CHECK(byte_float_values(DType::f8e4m3fn)[0x7e] == 448.0f);
  CHECK(byte_float_values(DType::f8e4m3fn)[0x01] == 0x1p-9f);
  CHECK(byte_float_values(DType::f8e4m3fnuz)[0x7f] == 240.0f);
  CHECK(byte_float_values(DType::f8e5m2)[0x7b] == 57344.0f);
  CHECK(byte_float_values(DType::f8e5m2fnuz)[0x7f] == 57344.0f);
  CHECK(byte_float_values(DType::f8e5m2fnuz)[0x01] == 0x1p-17f);
  CHECK(byte_float_values(DType::f8e8m0)[0] == 0x1p-127f);
  CHECK(byte_float_values(DType::f4e2m1)[7] == 6.0f);
  CHECK(byte_float_values(DType::f4e2m1)[9] == -0.5f);
}

// The codes are those of ml_dtypes 0.5, which ONNX's reference uses.
TEST_CASE("rounding is to nearest, ties to even, and small numbers are subnormal") {
  CHECK(to_byte_float(DType::f8e4m3fn, 2.5) == 0x42);
  CHECK(to_byte_float(DType::f8e4m3fnuz, -0.1) == 0xa5);
  CHECK(to_byte_float(DType::f8e5m2, 7) == 0x47);
  CHECK(to_byte_float(DType::f8e5m2fnuz, 0.75) == 0x3e);
  CHECK(to_byte_float(DType::f4e2m1, 5) == 0x6);
  CHECK(to_byte_float(DType::f4e2m1, 2.5) == 0x4);
  CHECK(to_byte_float(DType::f4e2m1, 0.25) == 0x0);
  CHECK(to_byte_float(DType::f8e4m3fn, 0x1p-10) == 0x00);
  CHECK(to_byte_float(DType::f8e4m3fn, 0x1.8p-10) == 0x01);
  CHECK(to_byte_float(DType::f8e4m3fn, 464) == 0x7e);  // half way to what would be 480
  CHECK(to_byte_float(DType::f8e4m3fn, 464.1, {.saturate = false}) == 0x7f);
}

TEST_CASE("what is too large, infinite, zero or no number, as ONNX's tables have it") {
  const auto codes = [](DType format, bool saturate) {
    std::string out;
    for (const double x : {0.0, -0.0, kNan, kInf, -kInf, 1e9, -1e9}) out += fmt::format("{:02x} ", to_byte_float(format, x, {.saturate = saturate}));
    return out;
  };
  CHECK(codes(DType::f8e4m3fn, true) == "00 80 7f 7e fe 7e fe ");
  CHECK(codes(DType::f8e4m3fnuz, true) == "00 00 80 7f ff 7f ff ");
  CHECK(codes(DType::f8e5m2, true) == "00 80 7e 7b fb 7b fb ");
  CHECK(codes(DType::f8e5m2fnuz, true) == "00 00 80 7f ff 7f ff ");
  CHECK(codes(DType::f8e4m3fn, false) == "00 80 7f 7f ff 7f ff ");
  CHECK(codes(DType::f8e4m3fnuz, false) == "00 00 80 80 80 80 80 ");
  CHECK(codes(DType::f8e5m2, false) == "00 80 7e 7c fc 7c fc ");
  CHECK(codes(DType::f8e5m2fnuz, false) == "00 00 80 80 80 80 80 ");
  CHECK(codes(DType::f4e2m1, true) == "00 08 08 07 0f 07 0f ");
}

TEST_CASE("powers of two round as asked") {
  const auto code = [](double x, ScaleRounding rounding, bool saturate = true) {
    return static_cast<int>(to_byte_float(DType::f8e8m0, x, {saturate, rounding}));
  };
  CHECK(code(1, ScaleRounding::up) == 127);
  CHECK(code(1.01, ScaleRounding::up) == 128);
  CHECK(code(1.99, ScaleRounding::down) == 127);
  CHECK(code(1.49, ScaleRounding::nearest) == 127);
  CHECK(code(1.5, ScaleRounding::nearest) == 128);
  CHECK(code(0, ScaleRounding::up) == 0);
  CHECK(code(0, ScaleRounding::nearest, false) == 255);
  CHECK(code(kInf, ScaleRounding::up) == 254);
  CHECK(code(kInf, ScaleRounding::up, false) == 255);
  CHECK(code(1e300, ScaleRounding::up) == 254);
  CHECK(code(1e-300, ScaleRounding::down) == 0);
  CHECK(code(kNan, ScaleRounding::up) == 255);
}

TEST_CASE("packed integers keep their sign") {
  CHECK(static_cast<int8_t>(unpacked(DType::i4, 0xf8)) == -8);
  CHECK(static_cast<int8_t>(unpacked(DType::i4, 0x07)) == 7);
  CHECK(unpacked(DType::u4, 0xf8) == 8);
  CHECK(static_cast<int8_t>(unpacked(DType::i2, 0x02)) == -2);
  CHECK(unpacked(DType::u2, 0xff) == 3);
}
}  // namespace narrow_float_test
