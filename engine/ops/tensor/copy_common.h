// Data movement as strided copies: transpose, slice, concat, split, expand, tile, pad and their like differ only in dimensions,
// strides and offsets.
#pragma once
#include <vector>

#include "engine/graph/op_def.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// out[out_offset + sum i_k * out_strides[k]] = in[in_offset + sum i_k * in_strides[k]] for every index i below dims.
/// Everything is counted in elements. Input strides may be 0 (repeat) or negative (reverse).
struct CopyView {
  Dims dims;
  std::vector<int64_t> in_strides, out_strides;
  int64_t in_offset = 0, out_offset = 0;
};

/// One copy of a step; the copies of a step write disjoint parts.
struct Copy {
  Buffer in, out;
  CopyView view;
};

/// `count` elements in a row.
CopyView flat_view(int64_t count);

/// Row-major strides.
std::vector<int64_t> strides_of(const Dims& dims);

/// Dimensions as stored: those of the shape, or [N][C/block][H][W][block] of a blocked value.
Dims stored_dims(const Type& type);

/// One step that does all the copies, whose elements are all of `element` bytes (1, 2, 4 or 8).
void emit_copies(LowerContext& c, const char* kernel, size_t element, std::vector<Copy> copies);

/// The same for the one copy from input 0 to output 0.
void emit_copy(LowerContext& c, const char* kernel, CopyView view);

/// Output 0 is these bytes, which are known when the plan is made.
void emit_known(LowerContext& c, std::span<const std::byte> bytes, size_t output = 0);
template <class T>
void emit_known(LowerContext& c, const std::vector<T>& values, size_t output = 0) {
  emit_known(c, std::as_bytes(std::span<const T>(values)), output);
}

/// Cost of moving the outputs: every element of them read and written once, nothing computed.
Cost movement_cost(const Node& node);

}  // namespace svengine::ops
