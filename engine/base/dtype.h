// Element types. The numbers are those of ONNX (TensorProto.DataType), so that files need no translation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace svengine {

enum class DType : int8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,  // one byte, 0 or 1
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  bf16 = 16,
};

/// Bytes of one element; 0 for undefined and string, which have no storage here.
size_t size_of(DType type);

/// "float32", "int64", "bool", ...: NumPy's names, as users write them.
std::string_view name_of(DType type);

/// The inverse of name_of; also accepts "float", "double" and "half".
std::optional<DType> dtype_from_name(std::string_view name);

bool is_float(DType type);
bool is_integer(DType type);  // signed or unsigned, not bool

template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() { return DType::f32; }
template <>
constexpr DType dtype_of<double>() { return DType::f64; }
template <>
constexpr DType dtype_of<int32_t>() { return DType::i32; }
template <>
constexpr DType dtype_of<int64_t>() { return DType::i64; }
template <>
constexpr DType dtype_of<uint8_t>() { return DType::u8; }
template <>
constexpr DType dtype_of<bool>() { return DType::boolean; }

}  // namespace svengine
