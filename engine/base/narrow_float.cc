#include "engine/base/narrow_float.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace svengine {
namespace {

/// Sign, exponent and mantissa, most significant first.
struct Format {
  int mantissa_bits, bias;
  int sign_bit;       // its place
  uint8_t largest;    // the largest number's code
  uint8_t nan;        // 0: there is none
  uint8_t infinity;   // 0: there is none
  bool negative_zero;
};

constexpr Format kE4m3fn{3, 7, 7, 0x7e, 0x7f, 0, true};
constexpr Format kE4m3fnuz{3, 8, 7, 0x7f, 0x80, 0, false};
constexpr Format kE5m2{2, 15, 7, 0x7b, 0x7e, 0x7c, true};
constexpr Format kE5m2fnuz{2, 16, 7, 0x7f, 0x80, 0, false};
constexpr Format kE2m1{1, 1, 3, 0x7, 0, 0, true};

const Format& format_of(DType type) {
  switch (type) {
    case DType::f8e4m3fnuz: return kE4m3fnuz;
    case DType::f8e5m2: return kE5m2;
    case DType::f8e5m2fnuz: return kE5m2fnuz;
    case DType::f4e2m1: return kE2m1;
    default: return kE4m3fn;
  }
}

constexpr int kScaleBias = 127;
constexpr uint8_t kScaleNan = 255;

float decode(const Format& f, uint8_t code) {
  const int sign = code >> f.sign_bit & 1, magnitude = code & ((1 << f.sign_bit) - 1);
  const bool is_nan = !f.negative_zero ? code == f.nan : f.infinity ? magnitude > f.infinity : f.nan && magnitude == f.nan;
  if (is_nan) return std::numeric_limits<float>::quiet_NaN();
  const int exponent = magnitude >> f.mantissa_bits, mantissa = magnitude & ((1 << f.mantissa_bits) - 1);
  const float value = f.infinity && magnitude == f.infinity ? std::numeric_limits<float>::infinity()
                      : exponent ? std::ldexp(static_cast<float>(mantissa | 1 << f.mantissa_bits), exponent - f.bias - f.mantissa_bits)
                                 : std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits);
  return sign ? -value : value;
}

using Values = std::array<float, 256>;

Values values_of(DType type) {
  Values out;
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<uint8_t>(code);
    if (type == DType::f8e8m0) out[byte] = byte == kScaleNan ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, code - kScaleBias);
    else out[byte] = decode(format_of(type), type == DType::f4e2m1 ? byte & 15 : byte);
  }
  return out;
}

/// A power of two, by its bits: exponents of the formats are far inside a double's.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52); }

uint8_t encode(const Format& f, double value, bool saturate) {
  const auto sign = static_cast<uint8_t>(std::signbit(value) ? 1 << f.sign_bit : 0);
  const uint8_t zero = f.negative_zero ? sign : 0;
  if (std::isnan(value)) return !f.nan ? static_cast<uint8_t>(1 << f.sign_bit) : f.negative_zero ? f.nan | sign : f.nan;
  const double magnitude = std::fabs(value);
  int code = 256;
  if (magnitude < power_of_two(40)) {
    const int exponent = std::max(static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52) - 1023, 1 - f.bias);
    const double steps = std::nearbyint(magnitude * power_of_two(f.mantissa_bits - exponent));
    // The implicit bit, where there is one, counts as one step of the exponent; rounding up to the next power carries into it.
    code = ((exponent + f.bias - 1) << f.mantissa_bits) + static_cast<int>(steps);
  }
  if (code <= f.largest) return code ? static_cast<uint8_t>(code | sign) : zero;
  if (saturate || (!f.nan && !f.infinity)) return f.largest | sign;
  return f.infinity ? f.infinity | sign : f.negative_zero ? f.nan | sign : f.nan;
}

uint8_t encode_scale(double value, const ByteFloatRules& rules) {
  if (std::isnan(value) || value < 0) return kScaleNan;
  if (value == 0) return rules.saturate ? 0 : kScaleNan;
  if (std::isinf(value)) return rules.saturate ? kScaleNan - 1 : kScaleNan;
  int exponent;
  const double fraction = 2 * std::frexp(value, &exponent);  // in [1, 2)
  const bool up = rules.scale == ScaleRounding::up ? fraction > 1 : rules.scale == ScaleRounding::nearest && fraction >= 1.5;
  const int code = exponent - 1 + up + kScaleBias;
  if (code < 0) return rules.saturate ? 0 : kScaleNan;
  if (code >= kScaleNan) return rules.saturate ? kScaleNan - 1 : kScaleNan;
  return static_cast<uint8_t>(code);
}

}  // namespace

float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const int exponent = half >> 10 & 31, mantissa = half & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | static_cast<uint32_t>(mantissa) << 13);
  const float magnitude = exponent ? std::ldexp(static_cast<float>(mantissa | 0x400), exponent - 25) : std::ldexp(static_cast<float>(mantissa), -24);
  return sign ? -magnitude : magnitude;
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00u | (bits >> 13 & 0x1ffu));
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) return sign | 0x7c00u;
  if (magnitude < 0x1p-14f) return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24f)));
  int exponent;
  const float fraction = std::frexp(magnitude, &exponent);  // in [1/2, 1)
  const auto mantissa = static_cast<int>(std::nearbyint(fraction * 2048.0f));  // 1024 to 2048; 2048 carries into the exponent
  return static_cast<uint16_t>(sign | static_cast<uint16_t>(((exponent + 13) << 10) + mantissa));
}

float bfloat_to_float(uint16_t bfloat) { return std::bit_cast<float>(static_cast<uint32_t>(bfloat) << 16); }

uint16_t float_to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

bool is_byte_float(DType type) {
  switch (type) {
    case DType::f8e4m3fn: case DType::f8e4m3fnuz: case DType::f8e5m2: case DType::f8e5m2fnuz: case DType::f8e8m0: case DType::f4e2m1: return true;
    default: return false;
  }
}

const float* byte_float_values(DType format) {
  static const Values kE4m3fnValues = values_of(DType::f8e4m3fn), kE4m3fnuzValues = values_of(DType::f8e4m3fnuz),
                      kE5m2Values = values_of(DType::f8e5m2), kE5m2fnuzValues = values_of(DType::f8e5m2fnuz),
                      kScaleValues = values_of(DType::f8e8m0), kE2m1Values = values_of(DType::f4e2m1);
  switch (format) {
    case DType::f8e4m3fnuz: return kE4m3fnuzValues.data();
    case DType::f8e5m2: return kE5m2Values.data();
    case DType::f8e5m2fnuz: return kE5m2fnuzValues.data();
    case DType::f8e8m0: return kScaleValues.data();
    case DType::f4e2m1: return kE2m1Values.data();
    default: return kE4m3fnValues.data();
  }
}

uint8_t to_byte_float(DType format, double value, ByteFloatRules rules) {
  return format == DType::f8e8m0 ? encode_scale(value, rules) : encode(format_of(format), value, rules.saturate);
}

int packed_bits(DType type) {
  switch (type) {
    case DType::u4: case DType::i4: case DType::f4e2m1: return 4;
    case DType::u2: case DType::i2: return 2;
    default: return 8;
  }
}

uint8_t unpacked(DType type, uint8_t bits) {
  const int drop = 8 - packed_bits(type);
  const auto high = static_cast<uint8_t>(bits << drop);
  const bool is_signed = type == DType::i4 || type == DType::i2;
  return is_signed ? static_cast<uint8_t>(static_cast<int8_t>(high) >> drop) : static_cast<uint8_t>(high >> drop);
}

}  // namespace svengine
