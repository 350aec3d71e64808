#include "engine/ops/convert/small_cast_common.h"

#include <cmath>
#include <limits>

#include "engine/base/number_at.h"
#include "engine/base/round.h"

namespace svengine::ops {
namespace {

constexpr int64_t kCastBlock = 4096;  // elements of a task

bool is_whole(DType type) { return is_integer(type) || (packed_bits(type) < 8 && !is_byte_float(type)) || type == DType::boolean; }

template <class T>
int64_t whole_at(const std::byte* data, int64_t i) {
  return static_cast<int64_t>(reinterpret_cast<const T*>(data)[i]);
}

/// Elements that are whole numbers, in 64 bits.
int64_t whole_number(DType type, const std::byte* data, int64_t i) {
  switch (size_of(type)) {
    case 8: return whole_at<int64_t>(data, i);
    case 4: return type == DType::u32 ? whole_at<uint32_t>(data, i) : whole_at<int32_t>(data, i);
    case 2: return type == DType::u16 ? whole_at<uint16_t>(data, i) : whole_at<int16_t>(data, i);
    default: break;
  }
  const bool is_signed = type == DType::i8 || type == DType::i4 || type == DType::i2;
  return is_signed ? whole_at<int8_t>(data, i) : whole_at<uint8_t>(data, i);
}

/// Towards zero, within 64 bits; NaN is 0.
int64_t whole_part(double x) {
  if (std::isnan(x)) return 0;
  return x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : static_cast<int64_t>(x);
}

void put(DType type, std::byte* data, int64_t i, uint64_t bits) {
  const size_t size = size_of(type);
  std::memcpy(data + static_cast<size_t>(i) * size, &bits, size);  // little endian: the low bytes
}

/// `value` is a source that is small, or one of any type on its way to a small one: exact as a double but for 64-bit integers, of which
/// `whole` has all bits.
void store(DType to, std::byte* data, int64_t i, double value, int64_t whole, ByteFloatRules rules) {
  if (is_byte_float(to)) return put(to, data, i, to_byte_float(to, value, rules));
  switch (to) {
    case DType::f32: return put(to, data, i, std::bit_cast<uint32_t>(static_cast<float>(value)));
    case DType::f64: return put(to, data, i, std::bit_cast<uint64_t>(value));
    case DType::f16: return put(to, data, i, float_to_half(static_cast<float>(value)));
    case DType::bf16: return put(to, data, i, float_to_bfloat(static_cast<float>(value)));
    case DType::boolean: return put(to, data, i, value != 0);
    case DType::u64:
      return put(to, data, i, value >= 0x1p64 ? UINT64_MAX : value >= 0x1p63 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(whole));
    case DType::u4: case DType::i4: case DType::u2: case DType::i2: return put(to, data, i, unpacked(to, static_cast<uint8_t>(whole)));
    default: return put(to, data, i, static_cast<uint64_t>(whole));
  }
}

void cast_elements(const std::byte* in, DType from, std::byte* out, DType to, int64_t begin, int64_t end, ByteFloatRules rules) {
  const float* values = is_byte_float(from) ? byte_float_values(from) : nullptr;
  if (values && to == DType::f32) {  // what reads quantised weights
    float* floats = reinterpret_cast<float*>(out);
    for (int64_t i = begin; i < end; ++i) floats[i] = values[static_cast<uint8_t>(in[i])];
    return;
  }
  const bool whole_source = is_whole(from);
  for (int64_t i = begin; i < end; ++i) {
    const double value = number_at(from, in, i);
    store(to, out, i, value, whole_source ? whole_number(from, in, i) : whole_part(value), rules);
  }
}

}  // namespace

bool is_small_type(DType type) { return is_byte_float(type) || packed_bits(type) < 8; }

void emit_small_cast(LowerContext& c, Buffer in, DType from, Buffer out, DType to, int64_t count, ByteFloatRules rules) {
  c.emit(fmt::format("cast_{}_{}", name_of(from), name_of(to)), ceil_div(count, kCastBlock),
         [=](const Run& run, int64_t begin, int64_t end) -> const char* {
           cast_elements(run.get<std::byte>(in), from, run.get<std::byte>(out), to, begin * kCastBlock, std::min(count, end * kCastBlock), rules);
           return nullptr;
         });
}

Result<ByteFloatRules> byte_float_rules(const Attributes& attributes) {
  ByteFloatRules rules;
  rules.saturate = attributes.get_int("saturate", 1) != 0;
  const std::string mode = attributes.get_string("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest") return error("round_mode is '{}', needs up, down or nearest", mode);
  rules.scale = mode == "up" ? ScaleRounding::up : mode == "down" ? ScaleRounding::down : ScaleRounding::nearest;
  return rules;
}

}  // namespace svengine::ops
