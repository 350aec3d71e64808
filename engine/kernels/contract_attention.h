// The contract of attention.h as functions; contract.h says what they are for.
#pragma once
#include "engine/kernels/attention.h"
#include "engine/kernels/contract.h"

namespace svengine::kernels {

const char* violation(const AttentionArgs& args) noexcept;
/// Of the kernel `pack`, which reads k and v alone.
const char* pack_violation(const AttentionArgs& args) noexcept;

}  // namespace svengine::kernels
