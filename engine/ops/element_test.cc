#include "engine/ops/element.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

namespace element_test {
using namespace svengine;
using namespace svengine::ops;

TEST_CASE("every half survives the way to float and back") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float f = half_to_float(half);
    if (std::isnan(f)) {
      CHECK(std::isnan(half_to_float(float_to_half(f))));
    } else if (float_to_half(f) != half) {
      FAIL("half " << bits << " is " << f << " and comes back as " << float_to_half(f));
    }
  }
}

TEST_CASE("floats become the nearest half, ties to even") {
  CHECK(float_to_half(1.0f) == 0x3c00);
  CHECK(float_to_half(-2.0f) == 0xc000);
  CHECK(float_to_half(1.0f + 0x1p-11f) == 0x3c00);                // a tie: down to even
  CHECK(float_to_half(1.0f + 3 * 0x1p-11f) == 0x3c02);            // a tie: up to even
  CHECK(float_to_half(std::nextafter(1.0f + 0x1p-11f, 2.0f)) == 0x3c01);
  CHECK(float_to_half(65519.0f) == 0x7bff);
  CHECK(float_to_half(65520.0f) == 0x7c00);
  CHECK(float_to_half(0x1p-24f) == 1);
  CHECK(float_to_half(0x1p-25f) == 0);
  CHECK(float_to_half(-std::numeric_limits<float>::infinity()) == 0xfc00);
}

TEST_CASE("elements of any type as numbers") {
  for (DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::i64}) {
    INFO(name_of(type));
    CHECK(number_at(type, scalar_of(type, -3).raw(), 0) == -3);
  }
  for (DType type : {DType::u8, DType::u16, DType::u32, DType::u64}) CHECK(number_at(type, scalar_of(type, 200).raw(), 0) == 200);
  CHECK(number_at(DType::i8, scalar_of(DType::i8, 1000).raw(), 0) == 127);
  CHECK(number_at(DType::u8, scalar_of(DType::u8, -5).raw(), 0) == 0);
  CHECK(number_at(DType::i32, scalar_of(DType::i32, -1e300).raw(), 0) == INT32_MIN);
  CHECK(element_bits(scalar_of(DType::i64, 1e300)) == INT64_MAX);
  CHECK(element_bits(scalar_of(DType::u64, 1e300)) == UINT64_MAX);
  CHECK(element_bits(scalar_of(DType::i64, NAN)) == 0);
  CHECK(number_at(DType::boolean, scalar_of(DType::boolean, 7).raw(), 0) == 1);
  CHECK(element_bits(scalar_of(DType::f16, 1)) == 0x3c00);
  CHECK(number_at(DType::i32, Tensor::of<int32_t>({3}, {1, 2, 3}).raw(), 2) == 3);
}
}  // namespace element_test
