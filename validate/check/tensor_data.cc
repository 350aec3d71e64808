#include "validate/check/tensor_data.h"

#include <algorithm>

#include "engine/base/round.h"

namespace svengine::validate {

std::optional<int> element_bits(int64_t data_type) {
  // float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 complex128 bfloat16, four float8, uint4
  // int4 float4e2m1 float8e8m0 uint2 int2 float6e2m3 float6e3m2
  static constexpr int kBits[] = {-1, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2, 6, 6};
  if (data_type < 1 || data_type >= static_cast<int64_t>(std::size(kBits))) return std::nullopt;
  return kBits[data_type];
}

std::string element_name(int64_t data_type) {
  if (const Result<DType> dtype = onnx::dtype_from_onnx(data_type); dtype.ok()) return std::string(name_of(*dtype));
  return data_type == 14 ? "complex64" : data_type == 15 ? "complex128" : data_type == 27 ? "float6_e2m3" : "float6_e3m2";
}

size_t data_bytes(int64_t data_type, const Dims& dims) {
  return static_cast<size_t>(ceil_div(element_count(dims) * element_bits(data_type).value_or(0), int64_t{8}));
}

uint32_t data_field(int64_t data_type) {
  switch (data_type) {
    case 1:
    case 14:
      return 4;
    case 11:
    case 15:
      return 10;
    case 7:
      return 7;
    case 12:
    case 13:
      return 11;
    case 8:
      return 6;
    default:
      return 5;
  }
}

const char* field_name(uint32_t field) {
  switch (field) {
    case 4:
      return "float_data";
    case 5:
      return "int32_data";
    case 6:
      return "string_data";
    case 7:
      return "int64_data";
    case 9:
      return "raw_data";
    case 10:
      return "double_data";
    default:
      return "uint64_data";
  }
}

Result<size_t> count_entries(const onnx::TensorRecord& record, uint32_t field) {
  const size_t fixed = field == 4 ? 4 : field == 10 ? 8 : 0;
  size_t count = 0;
  onnx::WireReader reader(record.message, record.offset);
  for (onnx::Field f; reader.next(f);) {
    if (f.number != field) continue;
    if (f.wire != onnx::Wire::length || field == 6)
      ++count;
    else if (fixed)
      count += f.payload.size() / fixed;
    else
      count += static_cast<size_t>(
          std::count_if(f.payload.begin(), f.payload.end(), [](std::byte b) { return static_cast<uint8_t>(b) < 0x80; }));
  }
  SV_TRY(reader.status());
  return count;
}

}  // namespace svengine::validate
