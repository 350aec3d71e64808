// The oracle of products of 8-bit integers: sums element by element, and what becomes of one.
#pragma once
#include <cstdint>

#include "engine/kernels/quantized.h"

namespace svengine::kernels {

/// Element `at` of a uint8 or int8 array; null: 0.
int32_t quantized_at(const void* bytes, bool is_signed, int64_t at);

/// A[row][d] less its zero point, also where A's rows are windows.
int32_t reference_quantized_a(const QuantizedGemmArgs& args, int64_t row, int64_t d);

/// B[d][column] less its zero point.
int32_t reference_quantized_b(const QuantizedPackArgs& args, int64_t d, int64_t column);

/// Stores what becomes of a sum, bias not yet added, as element `at` of c.
void reference_quantized_store(const QuantizedEpilogue& e, uint32_t sum, int64_t row, int64_t column, void* c, int64_t at);

/// Element [pixel][channel] of a depthwise convolution, bias not yet added.
uint32_t reference_depthwise_sum(const QuantizedDepthwiseArgs& args, int64_t pixel, int64_t channel);

}  // namespace svengine::kernels
