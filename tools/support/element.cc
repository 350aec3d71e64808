#include "tools/support/element.h"

#include <cmath>

namespace svengine::tool {
namespace {

template <class T>
T load(const Tensor& tensor, int64_t i) {
  T value;
  std::memcpy(&value, tensor.raw() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

double from_half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double value = exponent == 0    ? std::ldexp(mantissa, -24)
                 : exponent == 31 ? (mantissa ? std::nan("") : HUGE_VAL)
                                  : std::ldexp(1024 + mantissa, exponent - 25);
  return bits >> 15 ? -value : value;
}

double from_bfloat(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return static_cast<double>(value);
}

}  // namespace

double element_as_double(const Tensor& tensor, int64_t i) {
  switch (tensor.type()) {
    case DType::f32: return static_cast<double>(load<float>(tensor, i));
    case DType::f64: return load<double>(tensor, i);
    case DType::f16: return from_half(load<uint16_t>(tensor, i));
    case DType::bf16: return from_bfloat(load<uint16_t>(tensor, i));
    case DType::i8: return load<int8_t>(tensor, i);
    case DType::i16: return load<int16_t>(tensor, i);
    case DType::i32: return load<int32_t>(tensor, i);
    case DType::i64: return static_cast<double>(load<int64_t>(tensor, i));
    case DType::u8:
    case DType::boolean: return load<uint8_t>(tensor, i);
    case DType::u16: return load<uint16_t>(tensor, i);
    case DType::u32: return load<uint32_t>(tensor, i);
    case DType::u64: return static_cast<double>(load<uint64_t>(tensor, i));
    default: break;
  }
  return std::nan("");
}

std::string element_text(const Tensor& tensor, int64_t i, int digits) {
  if (tensor.type() == DType::i64) return std::to_string(load<int64_t>(tensor, i));
  if (tensor.type() == DType::u64) return std::to_string(load<uint64_t>(tensor, i));
  if (tensor.type() == DType::boolean) return load<uint8_t>(tensor, i) ? "true" : "false";
  if (is_integer(tensor.type())) return fmt::format("{:.0f}", element_as_double(tensor, i));
  return fmt::format("{:.{}g}", element_as_double(tensor, i), digits);
}

std::string index_text(const Dims& dims, int64_t i) {
  std::string out;
  for (size_t d = dims.size(); d-- > 0;) {
    out = std::to_string(i % dims[d]) + (out.empty() ? "" : ", ") + out;
    i /= dims[d];
  }
  return '[' + out + ']';
}

Statistics statistics_of(const Tensor& tensor) {
  Statistics out;
  double sum = 0;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double value = element_as_double(tensor, i);
    if (std::isnan(value)) {
      ++out.nans;
    } else if (std::isinf(value)) {
      ++out.infinities;
    } else {
      out.min = out.finite ? std::min(out.min, value) : value;
      out.max = out.finite ? std::max(out.max, value) : value;
      sum += value;
      ++out.finite;
    }
  }
  if (out.finite) out.mean = sum / static_cast<double>(out.finite);
  return out;
}

}  // namespace svengine::tool
