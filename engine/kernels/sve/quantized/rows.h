// Panels of A, made just before they are multiplied, of chunks of depth, in which each row has 64 bytes:
//
//   [ceil(k / 64)][rows][64] bytes, and int32 [rows] sums over k, [rows] zero points, both as the bytes are after the shift
//
// So rows are copied as they lie, and a tile broadcasts four bytes of each at distances that are constants. Rows of windows are first put
// together in a buffer, padding filled with the zero point.
#pragma once
#include "engine/kernels/sve/quantized/shape.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// Of a panel as it is in the scratch memory.
constexpr int64_t row_panel_bytes(int64_t k) { return (chunks(k) * kChunkGroups + 2) * kQuantRows * 4; }
/// Rows that are put together, and a vector over which the last one may reach.
constexpr int64_t gathered_bytes(int64_t k) { return kQuantRows * k + kVectorBytes; }

/// Rows [first, first + rows) of A. `gathered` is scratch memory of gathered_bytes(k). Without needs_sums those over k are 0: zero points of B,
/// with which they are multiplied, are.
void pack_row_panel(const QuantizedGemmArgs& args, int64_t first, int64_t rows, bool needs_sums, uint8_t* gathered, uint32_t* panel);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
