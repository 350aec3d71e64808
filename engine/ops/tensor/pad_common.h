// What Pad and its gradient have in common besides engine/graph/pads.h.
#pragma once
#include "engine/graph/pads.h"
#include "engine/kernels/data_prepare.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

inline constexpr int64_t kLongestPadded = int64_t{1} << 26;  // there is a table entry for every position

/// read_pads() where a plan is made: what is not known is an error.
Result<Pads> planned_pads(const LowerContext& c, int64_t rank);

kernels::PadMode pad_mode(const Attributes& attributes);

}  // namespace svengine::ops
