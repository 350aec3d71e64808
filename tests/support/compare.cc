#include "tests/support/compare.h"

#include <cmath>
#include <cstring>

namespace svengine::tests {
namespace {

template <class T>
double load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

/// IEEE binary16: GCC 12 has no type for it on every target.
double float16_value(const std::byte* at) {
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 31) magnitude = fraction ? std::nan("") : HUGE_VAL;
  return bits >> 15 ? -magnitude : magnitude;
}

double bfloat16_value(const std::byte* at) {
  uint16_t half;
  std::memcpy(&half, at, sizeof half);
  const uint32_t bits = static_cast<uint32_t>(half) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

double element(DType type, const std::byte* at) {
  switch (type) {
    case DType::f32: return load<float>(at);
    case DType::f64: return load<double>(at);
    case DType::f16: return float16_value(at);
    case DType::bf16: return bfloat16_value(at);
    case DType::i8: return load<int8_t>(at);
    case DType::u8:
    case DType::boolean: return load<uint8_t>(at);
    case DType::i16: return load<int16_t>(at);
    case DType::u16: return load<uint16_t>(at);
    case DType::i32: return load<int32_t>(at);
    case DType::u32: return load<uint32_t>(at);
    case DType::i64: return load<int64_t>(at);
    case DType::u64: return load<uint64_t>(at);
    default: return std::nan("");
  }
}

double excess(double actual, double expected, double rtol, double atol) {
  if (std::isnan(actual) && std::isnan(expected)) return 0;
  if (actual == expected) return 0;
  const double difference = std::abs(actual - expected), allowed = atol + rtol * std::abs(expected);
  return difference <= allowed ? 0 : std::isfinite(difference) ? difference - allowed : HUGE_VAL;
}

}  // namespace

std::vector<double> to_doubles(const Tensor& tensor) {
  std::vector<double> out(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = element(tensor.type(), tensor.raw() + i * size_of(tensor.type()));
  return out;
}

Status all_close(const Tensor& actual, const Tensor& expected, double rtol, double atol) {
  if (actual.type() != expected.type()) return error("is {}, expected {}", name_of(actual.type()), name_of(expected.type()));
  if (actual.dims() != expected.dims())
    return error("has shape {}, expected {}", to_string(actual.dims()), to_string(expected.dims()));
  if (!is_float(actual.type())) rtol = atol = 0;
  const std::vector<double> a = to_doubles(actual), e = to_doubles(expected);
  size_t worst = 0, count = 0;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = excess(a[i], e[i], rtol, atol);
    if (x <= 0) continue;
    ++count;
    if (x > most) most = x, worst = i;
  }
  if (count == 0) return {};
  return error("{} of {} elements differ, the worst at flat index {}: {} instead of {}", count, a.size(), worst,
               a[worst], e[worst]);
}

}  // namespace svengine::tests
