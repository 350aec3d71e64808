// Setting a range of memory to one element.
#pragma once
#include "engine/ops/element.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {

/// One step: `count` elements of `element` bytes become `bits`.
void emit_fill(LowerContext& c, Buffer out, int64_t count, size_t element, uint64_t bits);

/// All of an output, if the node has it: a gradient of what is not there, or that nobody asked for.
void emit_zeros(LowerContext& c, size_t output);

}  // namespace svengine::ops
