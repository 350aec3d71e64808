// Setting a range of memory to one element.
#pragma once
#include "engine/ops/element.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {

/// One step: `count` elements of `element` bytes become `bits`.
void emit_fill(LowerContext& c, Buffer out, int64_t count, size_t element, uint64_t bits);

}  // namespace svengine::ops
