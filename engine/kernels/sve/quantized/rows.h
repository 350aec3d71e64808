// Panels of A, made just before they are multiplied:
//
//   [ceil(k / 4)][rows][4] bytes, and int32 [rows] sums over k, [rows] zero points, both as the bytes are after the shift
//
// Rows that lie in memory as a multiple of four bytes are transposed from there. Others, those of windows above all, are first put
// together in a buffer, padding filled with the zero point.
#pragma once
#include "engine/kernels/sve/quantized/shape.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// Of a panel as it is in the scratch memory.
constexpr int64_t row_panel_bytes(int64_t k) { return (depth_groups(k) + 2) * kQuantRows * 4; }
/// Rows that are put together, and 64 bytes over which the last one's vectors may reach.
constexpr int64_t gathered_bytes(int64_t k) { return kQuantRows * depth_groups(k) * 4 + 64; }

/// Rows [first, first + rows) of A. `gathered` is scratch memory of gathered_bytes(k).
void pack_row_panel(const QuantizedGemmArgs& args, int64_t first, int64_t rows, uint8_t* gathered, uint32_t* panel);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
