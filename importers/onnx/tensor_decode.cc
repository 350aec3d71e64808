#include <bit>
#include <cstring>
#include <limits>

#include "engine/base/narrow_float.h"
#include "engine/base/round.h"
#include "importers/io/names.h"
#include "importers/onnx/tensor_proto.h"

namespace svengine::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "ONNX files are little endian and used in place");

/// Which data field of TensorProto holds the elements of a type when raw_data does not.
uint32_t typed_field(DType type) {
  switch (type) {
    case DType::f32: return 4;
    case DType::f64: return 10;
    case DType::i64: return 7;
    case DType::u32: case DType::u64: return 11;
    case DType::string: return 6;
    default: return 5;  // int32_data: small integers, bool, the bits of narrow floats, bytes of packed elements
  }
}

const char* name_of_field(uint32_t field) {
  switch (field) {
    case 4: return "float_data";
    case 5: return "int32_data";
    case 6: return "string_data";
    case 7: return "int64_data";
    case 10: return "double_data";
    default: return "uint64_data";
  }
}

/// Calls visit(bytes of one element or of a packed list) for every piece of data field `number`.
template <class Visit>
Status for_each_piece(const TensorRecord& record, uint32_t number, Visit&& visit) {
  WireReader reader(record.message, record.offset);
  for (Field field; reader.next(field);)
    if (field.number == number) SV_TRY(visit(field));
  return reader.status();
}

Error wrong_count(const TensorRecord& record, DType type, uint32_t field, size_t have) {
  return error("{} has {} elements, a {} tensor of shape {} needs {}", name_of_field(field), have, name_of(type),
               to_string(record.dims), element_count(record.dims));
}

/// float_data and double_data: fixed-size elements, in place when they are one packed list.
Result<Tensor> decode_fixed(const TensorRecord& record, DType type, const std::shared_ptr<const void>& owner) {
  const uint32_t number = typed_field(type);
  const size_t size = size_of(type);
  const Wire single = size == 4 ? Wire::fixed32 : Wire::fixed64;
  size_t bytes = 0;
  size_t pieces = 0;
  Bytes last;
  SV_TRY(for_each_piece(record, number, [&](const Field& field) -> Status {
    if (field.wire != single && (field.wire != Wire::length || field.payload.size() % size != 0))
      return error("{} is not a list of {}", name_of_field(number), name_of(type));
    bytes += field.payload.size();
    ++pieces;
    last = field.payload;
    return {};
  }));
  if (bytes / size != static_cast<size_t>(element_count(record.dims))) return wrong_count(record, type, number, bytes / size);
  if (pieces == 1 && bytes > kCopyUpTo) return Tensor::wrap(type, record.dims, last.data(), owner);
  SV_ASSIGN(MutableTensor tensor, Tensor::allocate(type, record.dims));
  std::byte* to = tensor.raw();
  SV_TRY(for_each_piece(record, number, [&](const Field& field) -> Status {
    if (!field.payload.empty()) std::memcpy(to, field.payload.data(), field.payload.size());
    to += field.payload.size();
    return {};
  }));
  return tensor;
}

bool fits(DType type, uint64_t bits) {
  const auto value = static_cast<int64_t>(bits);
  switch (type) {
    case DType::i8: return value >= INT8_MIN && value <= INT8_MAX;
    case DType::u8:
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
    case DType::f8e8m0:
      return value >= 0 && value <= UINT8_MAX;
    // Two or four elements; writers take the byte with and without its sign.
    case DType::u4: case DType::i4: case DType::u2: case DType::i2: case DType::f4e2m1: return value >= INT8_MIN && value <= UINT8_MAX;
    case DType::boolean: return value == 0 || value == 1;
    case DType::i16: return value >= INT16_MIN && value <= INT16_MAX;
    case DType::u16: case DType::f16: case DType::bf16: return value >= 0 && value <= UINT16_MAX;
    case DType::i32: return value >= INT32_MIN && value <= INT32_MAX;
    case DType::u32: return bits <= UINT32_MAX;
    default: return true;
  }
}

/// Calls visit(value) for every varint of data field `number`, packed or not.
template <class Visit>
Status for_each_varint(const TensorRecord& record, uint32_t number, Visit&& visit) {
  return for_each_piece(record, number, [&](const Field& field) -> Status {
    if (field.wire != Wire::length && field.wire != Wire::varint)
      return error("{} is not a list of numbers", name_of_field(number));
    for (size_t at = 0; at < field.payload.size();) {
      uint64_t value = 0;
      if (!read_varint(field.payload, at, value)) return error("{} ends in the middle of a number", name_of_field(number));
      SV_TRY(visit(value));
    }
    return {};
  });
}

/// Bytes of the elements in a file.
size_t file_size(DType type, const Dims& dims) {
  const auto count = static_cast<size_t>(element_count(dims));
  const int bits = packed_bits(type);
  return bits == 8 ? count * size_of(type) : ceil_div(static_cast<int64_t>(count) * bits, 8);
}

/// Elements of 2 or 4 bits, the first in the lowest bits, to a byte each.
Result<Tensor> unpack(DType type, const Dims& dims, Bytes packed) {
  SV_ASSIGN(MutableTensor tensor, Tensor::allocate(type, dims));
  const auto bits = static_cast<size_t>(packed_bits(type)), per_byte = 8 / bits;
  const std::span<uint8_t> to = tensor.data<uint8_t>();
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = unpacked(type, static_cast<uint8_t>(static_cast<uint8_t>(packed[i / per_byte]) >> i % per_byte * bits));
  return tensor;
}

/// int32_data with a byte of packed elements in every number.
Result<Tensor> decode_packed_varints(const TensorRecord& record, DType type, size_t count) {
  const uint32_t number = typed_field(type);
  if (count != file_size(type, record.dims))
    return error("{} has {} elements, a {} tensor of shape {} needs {}, a byte of packed ones in each", name_of_field(number), count,
                 name_of(type), to_string(record.dims), file_size(type, record.dims));
  std::vector<std::byte> packed;
  packed.reserve(count);
  SV_TRY(for_each_varint(record, number, [&](uint64_t value) -> Status {
    if (!fits(type, value)) return error("{} has {}, which is no byte", name_of_field(number), static_cast<int64_t>(value));
    packed.push_back(static_cast<std::byte>(value));
    return {};
  }));
  return unpack(type, record.dims, packed);
}

Result<Tensor> decode_strings(const TensorRecord& record) {
  std::vector<std::string> values;
  const auto count = static_cast<size_t>(element_count(record.dims));
  SV_TRY(for_each_piece(record, typed_field(DType::string), [&](const Field& field) -> Status {
    if (field.wire != Wire::length) return error("string_data is not a list of strings");
    if (values.size() == count) return error("string_data has more than {} elements, those of a tensor of shape {}", count, to_string(record.dims));
    values.emplace_back(text_of(field.payload));
    return {};
  }));
  if (values.size() != count) return wrong_count(record, DType::string, typed_field(DType::string), values.size());
  return Tensor::of_strings(record.dims, std::move(values));
}

Result<Tensor> decode_varints(const TensorRecord& record, DType type) {
  const uint32_t number = typed_field(type);
  size_t count = 0;
  SV_TRY(for_each_varint(record, number, [&](uint64_t) -> Status {
    ++count;
    return {};
  }));
  if (packed_bits(type) < 8) return decode_packed_varints(record, type, count);
  if (count != static_cast<size_t>(element_count(record.dims))) return wrong_count(record, type, number, count);
  SV_ASSIGN(MutableTensor tensor, Tensor::allocate(type, record.dims));
  const size_t size = size_of(type);
  std::byte* to = tensor.raw();
  SV_TRY(for_each_varint(record, number, [&](uint64_t value) -> Status {
    if (!fits(type, value))
      return error("{} has {}, which is no {}", name_of_field(number), static_cast<int64_t>(value), name_of(type));
    std::memcpy(to, &value, size);  // little endian: the low bytes
    to += size;
    return {};
  }));
  return tensor;
}

/// Bytes other than 0 and 1 count as true for NumPy, but would break what relies on 0 and 1: they become 1, in a copy.
Result<Tensor> with_clean_bools(Tensor tensor) {
  size_t odd = 0;
  for (const uint8_t b : tensor.data<uint8_t>()) odd += b > 1;
  if (odd == 0) return tensor;
  SV_ASSIGN(MutableTensor copy, tensor.aligned_copy());
  for (uint8_t& b : copy.data<uint8_t>()) b = b != 0;
  return copy;
}

Result<Tensor> from_bytes(DType type, const TensorRecord& record, Bytes bytes, const std::shared_ptr<const void>& owner) {
  if (packed_bits(type) < 8) return unpack(type, record.dims, bytes);
  Tensor tensor = Tensor::wrap(type, record.dims, bytes.data(), owner);
  if (bytes.size() <= kCopyUpTo) {
    SV_ASSIGN(tensor, tensor.aligned_copy());
  }
  if (type == DType::boolean) return with_clean_bools(std::move(tensor));
  return tensor;
}

Result<Tensor> decode_external(const TensorRecord& record, DType type, size_t size, ExternalFiles* external) {
  if (record.has_raw || record.typed) return error("has data both in the model and in an external file");
  if (!external) return error("its data is in an external file, which cannot be found for bytes without a folder");
  SV_ASSIGN(const ExternalFiles::Part part, external->find(record.external_data, size));
  if (type == DType::boolean) SV_TRY(external->charge(size));
  if (packed_bits(type) < 8) SV_TRY(external->charge(static_cast<size_t>(element_count(record.dims))));
  return from_bytes(type, record, part.bytes, part.owner);
}

Result<Tensor> decode(const TensorRecord& record, const std::shared_ptr<const void>& owner, ExternalFiles* external) {
  SV_TRY(check_dims(record.dims));
  SV_ASSIGN(const DType type, dtype_from_onnx(record.data_type));
  if (record.segmented) return unimplemented("is cut into segments, which are not supported");
  const size_t size = file_size(type, record.dims);
  if (type == DType::string && (record.external || record.has_raw)) return error("strings are kept in string_data, not in raw or external data");
  if (record.external) return decode_external(record, type, size, external);
  const uint32_t field = typed_field(type);
  if (record.has_raw) {
    if (record.typed)
      return error("has data in two fields, raw_data and {}",
                   name_of_field(static_cast<uint32_t>(std::countr_zero(record.typed))));
    if (record.raw.size() != size)
      return error("raw_data has {} bytes, a {} tensor of shape {} needs {}", record.raw.size(), name_of(type),
                   to_string(record.dims), size);
    return from_bytes(type, record, record.raw, owner);
  }
  if (record.typed & ~(1u << field))
    return error("a {} tensor keeps its data in raw_data or {}, not in {}", name_of(type), name_of_field(field),
                 name_of_field(static_cast<uint32_t>(std::countr_zero(record.typed & ~(1u << field)))));
  if (type == DType::string) return decode_strings(record);
  return type == DType::f32 || type == DType::f64 ? decode_fixed(record, type, owner) : decode_varints(record, type);
}

}  // namespace

Result<DType> dtype_from_onnx(int64_t data_type) {
  switch (data_type) {
    case 14: return unimplemented("element type complex64 is not supported");
    case 15: return unimplemented("element type complex128 is not supported");
    case 27: return unimplemented("element type float6e2m3 is not supported");
    case 28: return unimplemented("element type float6e3m2 is not supported");
    default: break;
  }
  if (const auto type = dtype_from_number(data_type)) return *type;
  return error("element type {} is not one of ONNX's", data_type);
}

Result<Tensor> decode_tensor(const TensorRecord& record, const std::shared_ptr<const void>& owner, ExternalFiles* external) {
  Result<Tensor> tensor = decode(record, owner, external);
  if (tensor.ok()) return tensor;
  return std::move(tensor).error().in(record.name.empty() ? std::string("tensor") : fmt::format("tensor '{}'", printable(record.name)));
}

}  // namespace svengine::onnx
