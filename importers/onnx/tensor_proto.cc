#include "importers/onnx/tensor_proto.h"

#include "importers/io/names.h"

namespace svengine::onnx {
namespace {

constexpr size_t kMaxDims = 32;         // as check_dims() has it
constexpr size_t kMaxExternalKeys = 64;

Status read_dims(const Field& field, TensorRecord& record) {
  const auto add = [&](uint64_t value) -> Status {
    if (record.dims.size() == kMaxDims) return unimplemented("tensor '{}' has more than {} dimensions", printable(record.name), kMaxDims);
    record.dims.push_back(static_cast<int64_t>(value));
    return {};
  };
  if (field.wire == Wire::varint) return add(field.value);
  if (field.wire != Wire::length) return error("the dimensions of a tensor are not numbers");
  for (size_t at = 0; at < field.payload.size();) {
    uint64_t value = 0;
    if (!read_varint(field.payload, at, value)) return error("the dimensions of a tensor are cut off");
    SV_TRY(add(value));
  }
  return {};
}

Status read_external(Bytes entry, size_t offset, TensorRecord& record) {
  if (record.external_data.size() == kMaxExternalKeys) return unimplemented("external_data has more than {} entries", kMaxExternalKeys);
  std::pair<std::string_view, std::string_view> pair;
  WireReader reader(entry, offset);
  for (Field field; reader.next(field);) {
    if (field.wire == Wire::length && field.number == 1) pair.first = text_of(field.payload);
    if (field.wire == Wire::length && field.number == 2) pair.second = text_of(field.payload);
  }
  record.external_data.push_back(pair);
  return reader.status();
}

}  // namespace

Result<TensorRecord> scan_tensor(Bytes message, size_t offset) {
  TensorRecord record;
  record.message = message;
  record.offset = offset;
  WireReader reader(message, offset);
  for (Field field; reader.next(field);) {
    const bool is_text = field.wire == Wire::length;
    const size_t payload_offset = offset + static_cast<size_t>(field.payload.data() - message.data());
    switch (field.number) {
      case 1: SV_TRY(read_dims(field, record)); break;
      case 2:
        if (field.wire == Wire::varint) record.data_type = static_cast<int32_t>(field.value);
        break;
      case 3: record.segmented = true; break;
      case 4: case 5: case 6: case 7: case 10: case 11: record.typed |= 1u << field.number; break;
      case 8:
        if (is_text) record.name = text_of(field.payload);
        break;
      case 9:
        if (!is_text) return error("byte {}: the raw_data of a tensor are not bytes", payload_offset);
        record.has_raw = true;
        record.raw = field.payload;
        break;
      case 13:
        if (is_text) SV_TRY(read_external(field.payload, payload_offset, record));
        break;
      case 14:
        if (field.wire == Wire::varint) record.external = field.value == 1;
        break;
      default: break;
    }
  }
  SV_TRY(reader.status());
  return record;
}

}  // namespace svengine::onnx
