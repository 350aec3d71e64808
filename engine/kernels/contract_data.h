// The contract of data.h as functions; contract.h says what they are for. `error` may be null where the caller has checked the
// indices; then all of them must be in range.
#pragma once
#include "engine/kernels/contract.h"
#include "engine/kernels/data.h"

namespace svengine::kernels {

const char* violation(const CopyArgs& args) noexcept;
const char* violation(const FillArgs& args) noexcept;
const char* violation(const ReorderArgs& args) noexcept;
const char* violation(const GatherArgs& args) noexcept;
const char* violation(const GatherElementsArgs& args) noexcept;
const char* violation(const GatherNdArgs& args) noexcept;
const char* violation(const ScatterElementsArgs& args) noexcept;
const char* violation(const ScatterNdArgs& args) noexcept;
const char* violation(const MapArgs& args) noexcept;
const char* violation(const ResampleArgs& args) noexcept;
const char* violation(const ResampleF64Args& args) noexcept;
const char* violation(const WeightedGatherArgs& args) noexcept;
const char* violation(const OneHotArgs& args) noexcept;
const char* violation(const TriluArgs& args) noexcept;

}  // namespace svengine::kernels
