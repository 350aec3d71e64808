// The contract of quantized.h as functions; contract.h says what they are for.
#pragma once
#include "engine/kernels/contract.h"
#include "engine/kernels/quantized.h"

namespace svengine::kernels {

const char* violation(const QuantizedPackArgs& args) noexcept;
const char* violation(const QuantizedGemmArgs& args) noexcept;
const char* violation(const QuantizedDepthwiseArgs& args) noexcept;
const char* violation(const QuantizedBinaryArgs& args) noexcept;
const char* violation(const QuantizeArgs& args) noexcept;
const char* violation(const ByteTableArgs& args) noexcept;
const char* violation(const ByteSumArgs& args) noexcept;
const char* violation(const IntegerGemmArgs& args) noexcept;
const char* violation(const QuantizedRangeArgs& args) noexcept;
const char* violation(const NBitsRoundArgs& args) noexcept;
const char* violation(const NBitsRowsArgs& args) noexcept;
const char* violation(const NBitsUnpackArgs& args) noexcept;

}  // namespace svengine::kernels
