#include "engine/ops/microsoft/quantized_cache_common.h"

namespace svengine::ops {
namespace {

/// For all elements, or [1, heads, 1, size].
Value* scale_of(ExpandContext& c, const CacheFormat& format, Value* scale, int64_t heads, int64_t size) {
  scale = c.cast(scale, DType::f32);
  return format.by_channel ? c.reshape(scale, {1, heads, 1, size}) : c.reshape(scale, {});
}

Value* byte_of(ExpandContext& c, int value) { return c.builder().constant(Tensor::scalar(static_cast<uint8_t>(value))); }

}  // namespace

Result<CacheFormat> cache_format(const Attributes& attributes) {
  const std::string keys = attributes.get_string("k_quant_type", "NONE"), values = attributes.get_string("v_quant_type", "NONE");
  const int64_t bits = attributes.get_int("kv_cache_bit_width", 0);
  if (keys != values) return unimplemented("k_quant_type {} and v_quant_type {}: caches of two kinds are not supported", keys, values);
  if (keys == "NONE") {
    if (bits != 0) return error("kv_cache_bit_width is {}, but k_quant_type and v_quant_type are NONE", bits);
    return CacheFormat();
  }
  if (keys != "PER_TENSOR" && keys != "PER_CHANNEL") return error("k_quant_type is '{}', must be NONE, PER_TENSOR or PER_CHANNEL", keys);
  if (bits != 4 && bits != 8) return error("kv_cache_bit_width is {}, must be 4 or 8", bits);
  return CacheFormat{bits, keys == "PER_CHANNEL"};
}

Status check_cache_scale(const InferContext& c, const CacheFormat& format, size_t scale, const Dim& heads, const Dim& size) {
  if (format.bits == 0) return c.has_input(scale) ? error("{} is given, but the cache is not quantised", c.described(scale)) : Status();
  if (!c.has_input(scale)) return error("a quantised cache needs {}", c.described(scale));
  SV_TRY(require_dtype(c, scale, {DType::f32}));
  const Shape& shape = c.shape(scale);
  if (!shape.has_rank()) return {};
  const Dim count = product(shape, 0, static_cast<size_t>(shape.rank())), wanted = format.by_channel ? multiply(heads, size) : Dim(1);
  if (known_different(count, wanted)) return error("{} is {}, needs {} elements", c.described(scale), to_string(shape), wanted.value());
  return {};
}

Value* quantized_cache(ExpandContext& c, const CacheFormat& format, Value* v, Value* scale, int64_t heads, int64_t size) {
  if (format.bits == 0) return v;
  const int64_t most = (int64_t{1} << (format.bits - 1)) - 1;
  const auto bound = [&](int64_t x) { return c.number(static_cast<double>(x), DType::f32); };
  Value* steps = c.op("Round", {c.op("Div", {c.cast(v, DType::f32), scale_of(c, format, scale, heads, size)})});
  steps = c.op("Clip", {steps, bound(-most - 1), bound(most)});
  if (format.bits == 8) return c.cast(steps, DType::i8);
  Value* pairs = c.reshape(c.cast(c.op("Add", {steps, bound(8)}), DType::u8), {0, 0, -1, size / 2, 2});
  const auto half = [&](int64_t which) { return c.op("Squeeze", {c.slice(pairs, 4, which, which + 1), c.ints({4})}); };
  return c.op("BitwiseOr", {half(0), c.op("BitShift", {half(1), byte_of(c, 4)}, make_attributes({{"direction", std::string("LEFT")}}))});
}

Value* restored_cache(ExpandContext& c, const CacheFormat& format, Value* cache, Value* scale, int64_t heads, int64_t size, DType type) {
  if (format.bits == 0) return cache;
  Value* steps = nullptr;
  if (format.bits == 8) steps = c.cast(cache, DType::f32);
  else steps = c.op("Sub", {c.cast(unpacked_bytes(c, cache, 2, size), DType::f32), c.number(8, DType::f32)});
  return c.cast(c.op("Mul", {steps, scale_of(c, format, scale, heads, size)}), type);
}

}  // namespace svengine::ops
