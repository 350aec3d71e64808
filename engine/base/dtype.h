// What element types are called and how large they are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "engine/base/dtype_enum.h"

namespace svengine {

/// Bytes of one element in an arena or file; 0 for undefined and for what only lives on the host (is_handle()).
size_t size_of(DType type);

/// "float32", "int64", "bool", ...: NumPy's names, as users write them.
std::string_view name_of(DType type);

/// The inverse of name_of; also accepts "float", "double" and "half".
std::optional<DType> dtype_from_name(std::string_view name);

/// The type that ONNX's TensorProto.DataType gives this number; none for numbers of no type, and of those that no tensor here can have.
std::optional<DType> dtype_from_number(int64_t number);

/// Strings, sequences, optionals and maps: objects that no kernel sees, worked on by OpDef::evaluate.
constexpr bool is_handle(DType type) { return type == DType::string || type >= DType::sequence; }
/// Sequences, optionals and maps: what holds other tensors.
constexpr bool is_container(DType type) { return type >= DType::sequence; }
bool is_float(DType type);
bool is_integer(DType type);  // signed or unsigned, not bool

template <class T>
constexpr DType dtype_of() = delete;  // for types that are no element
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
