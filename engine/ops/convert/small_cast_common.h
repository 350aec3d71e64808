// Conversions from and to element types of 8 bits and less that no kernel knows: float8, float4, and integers of 2 and 4 bits.
#pragma once
#include "engine/base/narrow_float.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// Is it one of those?
bool is_small_type(DType type);

/// One step: `count` elements of a type become another, of which at least one is small. To integers: truncated, the low bits of the
/// result. `out` may be `in` where the types have one size.
void emit_small_cast(LowerContext& c, Buffer in, DType from, Buffer out, DType to, int64_t count, ByteFloatRules rules);

/// Attributes `saturate` and `round_mode`, checked.
Result<ByteFloatRules> byte_float_rules(const Attributes& attributes);

}  // namespace svengine::ops
