#include "engine/ops/convert/string_cast_common.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "engine/ops/element.h"

namespace svengine::ops {
namespace {

template <class T>
std::string real_text(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
  std::string out = fmt::format("{}", value);
  return out.find_first_of(".e") == out.npos ? out + ".0" : out;
}

template <class T>
std::string number_text(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return real_text(value);
  else
    return fmt::format_int(value).str();
}

/// Of the types that C++ has no type for.
std::string rare_number_text(DType type, double value) {
  return is_float(type) || is_byte_float(type) ? real_text(static_cast<float>(value)) : number_text(static_cast<int64_t>(value));
}

std::vector<std::string> number_texts(const Tensor& t) {
  std::vector<std::string> out;
  out.reserve(static_cast<size_t>(t.count()));
  const auto write = [&]<class T>(std::span<const T> numbers) {
    for (const T number : numbers) out.push_back(number_text(number));
  };
  switch (t.type()) {
    case DType::f64: write(t.data<double>()); break;
    case DType::f32: write(t.data<float>()); break;
    case DType::i64: write(t.data<int64_t>()); break;
    case DType::i32: write(t.data<int32_t>()); break;
    case DType::i16: write(t.data<int16_t>()); break;
    case DType::i8: write(t.data<int8_t>()); break;
    case DType::u64: write(t.data<uint64_t>()); break;
    case DType::u32: write(t.data<uint32_t>()); break;
    case DType::u16: write(t.data<uint16_t>()); break;
    case DType::u8: write(t.data<uint8_t>()); break;
    case DType::boolean:
      for (const uint8_t truth : t.data<uint8_t>()) out.emplace_back(truth ? "1" : "0");
      break;
    default:
      for (int64_t i = 0; i < t.count(); ++i) out.push_back(rare_number_text(t.type(), number_at(t.type(), t.raw(), i)));
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(kBlanks);
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool same_letters(std::string_view a, std::string_view upper) {
  return std::equal(a.begin(), a.end(), upper.begin(), upper.end(), [](unsigned char x, char y) { return std::toupper(x) == y; });
}

Result<double> parsed_real(const std::string& text) {
  std::string_view rest = trimmed(text);
  if (rest.starts_with('+')) rest.remove_prefix(1);
  if (same_letters(rest, "INF")) return HUGE_VAL;
  if (same_letters(rest, "-INF")) return -HUGE_VAL;
  if (same_letters(rest, "NAN")) return std::nan("");
  double value = 0;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (problem == std::errc::result_out_of_range) return std::strtod(std::string(rest).c_str(), nullptr);
  if (rest.empty() || problem != std::errc() || end != rest.data() + rest.size()) return error("'{}' is no number", text.substr(0, 100));
  return value;
}

template <class T>
bool parsed_integer(const std::string& text, T& value) {
  std::string_view rest = trimmed(text);
  if (rest.starts_with('+')) rest.remove_prefix(1);
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return !rest.empty() && problem == std::errc() && end == rest.data() + rest.size();
}

/// The element's bits, little endian.
Result<uint64_t> parsed_bits(const std::string& text, DType to) {
  int64_t whole = 0;
  uint64_t natural = 0;
  const bool is_real = is_float(to) || is_byte_float(to) || to == DType::boolean;
  const auto low_bits = [to](int64_t number) -> uint64_t {
    if (packed_bits(to) < 8) return unpacked(to, static_cast<uint8_t>(number));
    return static_cast<uint64_t>(number);
  };
  if (!is_real && parsed_integer(text, whole)) return low_bits(whole);
  if (to == DType::u64 && parsed_integer(text, natural)) return natural;
  SV_ASSIGN(const double value, parsed_real(text));
  if (!is_real && !(std::fabs(value) < 0x1p63)) return error("'{}' is no {}", text.substr(0, 100), name_of(to));
  if (!is_real) return low_bits(static_cast<int64_t>(value));
  return element_bits(scalar_of(to, value));
}

Result<Tensor> from_strings(const Tensor& in, DType to) {
  SV_ASSIGN(MutableTensor out, Tensor::allocate(to, in.dims()));
  const size_t size = size_of(to);
  for (size_t i = 0; i < in.strings().size(); ++i) {
    SV_ASSIGN(const uint64_t bits, parsed_bits(in.strings()[i], to));
    std::memcpy(out.raw() + i * size, &bits, size);
  }
  return out;
}

}  // namespace

Status cast_strings(EvaluateContext& c) {
  const Tensor& in = c.input(0);
  const DType to = c.node().output(0)->type.dtype;
  if (in.type() == to) {
    c.set(0, in);
    return {};
  }
  if (in.type() == DType::string) {
    SV_ASSIGN(Tensor out, from_strings(in, to));
    c.set(0, std::move(out));
    return {};
  }
  c.set(0, Tensor::of_strings(in.dims(), number_texts(in)));
  return {};
}

}  // namespace svengine::ops
