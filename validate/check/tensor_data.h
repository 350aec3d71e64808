// What the bytes of a TensorProto must be, by its type.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "importers/onnx/tensor_proto.h"

namespace svengine::validate {

/// Bits of an element by TensorProto.DataType, complex numbers and float6 too, which the engine has not; 0: strings; nothing: no such type.
std::optional<int> element_bits(int64_t data_type);

/// "float32", "complex64"; only for types that there are.
std::string element_name(int64_t data_type);

/// Bytes of all elements; only for dims that check_dims() has accepted.
size_t data_bytes(int64_t data_type, const Dims& dims);

/// The data field of TensorProto, by number, in which a type's elements are when they are not raw data.
uint32_t data_field(int64_t data_type);
const char* field_name(uint32_t field);

/// How many entries a data field has, packed or not, in pieces or not.
Result<size_t> count_entries(const onnx::TensorRecord& record, uint32_t field);

}  // namespace svengine::validate
