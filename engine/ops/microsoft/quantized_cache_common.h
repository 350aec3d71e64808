// Caches of keys and values in 8 or 4 bits, as com.microsoft.GroupQueryAttention has them: [batch, heads, length, size] of int8, or
// [batch, heads, length, size / 2] of uint8, each byte two numbers plus 8, the first in the low bits. A number times its scale is what attention
// is computed of, the new keys and values too.
#pragma once
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {

struct CacheFormat {
  int64_t bits = 0;  // 0: not quantised
  bool by_channel = false;

  DType type() const { return bits == 4 ? DType::u8 : DType::i8; }
  /// The cache's last dimension for heads of that size.
  Dim width(const Dim& size) const { return bits == 4 && size.is_static() ? Dim(size.value() / 2) : bits == 4 ? Dim() : size; }
};

/// As attributes k_quant_type, v_quant_type and kv_cache_bit_width say, which must agree.
Result<CacheFormat> cache_format(const Attributes& attributes);

/// A scale for all, or one for each element of each head, [1, heads, 1, size].
Status check_cache_scale(const InferContext& c, const CacheFormat& format, size_t scale, const Dim& heads, const Dim& size);

/// Of [batch, heads, length, size], and back to `type`.
Value* quantized_cache(ExpandContext& c, const CacheFormat& format, Value* v, Value* scale, int64_t heads, int64_t size);
Value* restored_cache(ExpandContext& c, const CacheFormat& format, Value* cache, Value* scale, int64_t heads, int64_t size, DType type);

}  // namespace svengine::ops
