#include "importers/onnx/wire.h"

namespace svengine::onnx {

bool read_varint(Bytes bytes, size_t& at, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at >= bytes.size()) return false;
    const auto byte = static_cast<uint64_t>(bytes[at++]);
    if (shift == 63 && byte > 1) return false;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void append_field_head(std::string& out, uint32_t number, size_t size) {
  append_varint(out, number << 3 | static_cast<uint32_t>(Wire::length));
  append_varint(out, size);
}

bool WireReader::fail(Error error) {
  status_ = std::move(error);
  return false;
}

bool WireReader::next(Field& field) {
  if (!status_.ok() || at_ >= bytes_.size()) return false;
  const size_t begin = at_;
  const size_t position = offset_ + begin;
  uint64_t key = 0;
  if (!read_varint(bytes_, at_, key) || key > UINT32_MAX)
    return fail(error("byte {}: not a field of a protobuf message", position));
  field.number = static_cast<uint32_t>(key >> 3);
  field.wire = static_cast<Wire>(key & 7);
  if (field.number == 0) return fail(error("byte {}: field number 0 does not exist in protobuf", position));
  uint64_t size = 0;
  field.value = 0;
  size_t payload = at_;
  switch (field.wire) {
    case Wire::varint:
      if (!read_varint(bytes_, at_, field.value))
        return fail(error("byte {}: the number in field {} is cut off or too long", position, field.number));
      size = at_ - payload;
      break;
    case Wire::fixed64: size = 8; break;
    case Wire::fixed32: size = 4; break;
    case Wire::length:
      if (!read_varint(bytes_, at_, size))
        return fail(error("byte {}: the length of field {} is cut off or too long", position, field.number));
      payload = at_;
      break;
    default:
      return fail(error("byte {}: field {} has wire type {}, which ONNX does not use", position, field.number, key & 7));
  }
  if (size > bytes_.size() - payload)
    return fail(error("byte {}: field {} claims {} bytes where {} are left", position, field.number, size,
                      bytes_.size() - payload));
  at_ = payload + size;
  field.payload = bytes_.subspan(payload, size);
  field.whole = bytes_.subspan(begin, at_ - begin);
  return true;
}

}  // namespace svengine::onnx
