// What Pad and its gradient have in common: how much is added where.
#pragma once
#include <optional>

#include "engine/kernels/data_prepare.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

inline constexpr int64_t kLongestPadded = int64_t{1} << 26;  // there is a table entry for every position

/// For each dimension; negative: taken away.
struct Pads {
  std::vector<int64_t> before, after;
};

Result<Pads> pads_by_axis(std::span<const int64_t> pads, const std::optional<std::vector<int64_t>>& axes, int64_t rank);

/// From inputs 1 (pads) and 3 (axes), which must be known.
Result<Pads> known_pads(const LowerContext& c, int64_t rank);

kernels::PadMode pad_mode(const Attributes& attributes);

}  // namespace svengine::ops
