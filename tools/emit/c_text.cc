#include "tools/emit/c_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/base/number_at.h"

namespace svengine::tool::emit {
namespace {

/// Keywords of C and C++, and names of the standard's macros and of compilers' that a parameter could not have.
constexpr std::string_view kReserved[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "class", "compl", "complex",
    "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "errno", "explicit", "export", "extern", "false", "far", "float", "for", "friend", "goto", "if", "imaginary",
    "inline", "int", "linux", "long", "mutable", "namespace", "near", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
    "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "small",
    "static", "static_assert", "static_cast", "stderr", "stdin", "stdout", "struct", "switch", "template", "this", "thread_local", "throw", "true",
    "try", "typedef", "typeid", "typename", "typeof", "union", "unix", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while",
    "xor", "xor_eq", "EOF", "I", "INFINITY", "NAN", "NULL", "HUGE_VAL", "OVERFLOW", "UNDERFLOW", "DOMAIN", "SING", "PLOSS", "TLOSS", "BUFSIZ",
    "RAND_MAX", "EXIT_FAILURE", "EXIT_SUCCESS", "EDOM", "ERANGE", "EILSEQ", "assert", "memcpy", "memset", "workspace"};

/// The bits of a number after its point, as the format has them: mantissa bits rounded up to whole hexadecimal digits.
std::string hexadecimal(bool negative, uint64_t mantissa, int digits, int exponent, bool normal, const char* suffix) {
  std::string text = fmt::format("{:0{}x}", mantissa, digits);
  text.erase(text.find_last_not_of('0') + 1);
  return fmt::format("{}0x{}{}{}p{:+d}{}", negative ? "-" : "", normal ? 1 : 0, text.empty() ? "" : ".", text, exponent, suffix);
}

std::string real(float value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  if (value == 0) return std::signbit(value) ? "-0.0f" : "0.0f";
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const int exponent = static_cast<int>(bits >> 23 & 0xff);
  return hexadecimal(bits >> 31, (bits & 0x7fffff) << 1, 6, exponent ? exponent - 127 : -126, exponent != 0, "f");
}

std::string real(double value) {
  if (std::isnan(value) || std::isinf(value) || value == 0) {
    std::string text = real(static_cast<float>(value));
    if (text.ends_with("0f")) text.pop_back();
    return text;
  }
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  return hexadecimal(bits >> 63, bits & 0xfffffffffffff, 13, exponent ? exponent - 1023 : -1022, exponent != 0, "");
}

template <class T>
T element_at(const void* elements, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(elements) + i * static_cast<int64_t>(sizeof value), sizeof value);
  return value;
}

/// C has no negative constants, so the lowest one of 64 bits is an expression.
std::string integer(int64_t value) {
  if (value == std::numeric_limits<int64_t>::lowest()) return "(-INT64_MAX - 1)";
  if (value == std::numeric_limits<int32_t>::lowest()) return "(-INT32_MAX - 1)";
  return value > INT32_MAX || value < -INT32_MAX ? fmt::format("INT64_C({})", value) : fmt::format("{}", value);
}

}  // namespace

std::string_view c_type(DType type) {
  switch (type) {
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::i8: return "int8_t";
    case DType::i16: return "int16_t";
    case DType::i32: return "int32_t";
    case DType::i64: return "int64_t";
    case DType::u16: return "uint16_t";
    case DType::u32: return "uint32_t";
    case DType::u64: return "uint64_t";
    default: return "uint8_t";
  }
}

std::string c_element(DType type, const void* elements, int64_t i) {
  if (type == DType::f32) return real(element_at<float>(elements, i));
  if (type == DType::f64) return real(element_at<double>(elements, i));
  if (type == DType::i64) return integer(element_at<int64_t>(elements, i));
  if (type == DType::u64) return fmt::format("UINT64_C({})", element_at<uint64_t>(elements, i));
  return integer(static_cast<int64_t>(number_at(type, elements, i)));
}

std::string c_number(double value, DType type) {
  if (type == DType::f32) return real(static_cast<float>(value));
  return type == DType::f64 ? real(value) : integer(static_cast<int64_t>(value));
}

std::string c_identifier(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (good) out += c;
    else if (!out.empty() && out.back() != '_') out += '_';  // none in front, where C keeps them for itself, and no two: C++ does
  }
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out = "x" + out;
  if (out.ends_with("_t") || std::find(std::begin(kReserved), std::end(kReserved), out) != std::end(kReserved)) out += "_value";
  return out;
}

std::string c_comment(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const char before = out.empty() ? ' ' : out.back();
    const bool ends = (c == '/' && before == '*') || (c == '*' && before == '/'), trigraph = c == '?' && before == '?';
    out += c >= ' ' && c <= '~' && c != '\\' && !ends && !trigraph ? c : '.';
  }
  return out;
}

std::string Identifiers::unique(std::string_view name) {
  const std::string wanted = c_identifier(name);
  std::string out = wanted;
  for (int i = 2; !taken_.insert(out).second; ++i) out = fmt::format("{}_{}", wanted, i);
  return out;
}

void Code::close(int blocks) {
  for (; blocks > 0; --blocks) {
    --depth_;
    add("}");
  }
}

void Code::add(const std::string& line) {
  text_.append(static_cast<size_t>(2 * depth_), ' ');
  text_ += line;
  text_ += '\n';
}

}  // namespace svengine::tool::emit
