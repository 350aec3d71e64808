// Lookups by index tensors (int32 or int64, negative ones counted from the end). Known indices are checked by inference; those
// that are computed are checked before the kernel reads them, and one outside the data stops the run with an error.
#pragma once
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {

/// Refuses a known index tensor with a value outside [-size, size). With several sizes, index i belongs to sizes[i % n].
Status check_indices(const InferContext& c, size_t input, std::span<const Dim> sizes);

/// For inputs 0 (data) and 1 (indices) that go together element by element: equal ranks, and no dimension but `axis` of the
/// indices larger than the data's.
Status check_elementwise_indices(const InferContext& c, size_t axis);

/// Element i of an index tensor, at any alignment; int64 when `wide`, else int32.
int64_t index_at(const void* indices, bool wide, int64_t i);

/// The kernels' loops are at most kernels::kMaxDims deep.
Status require_kernel_rank(const Dims& dims);

/// A step that stops the run when an index of the input is outside. Constants are looked at here: infer may have seen them before the data's
/// shape was known, or before they were constants.
Status emit_index_check(LowerContext& c, size_t input, Dims extents);

/// OpDef::check_values of operators whose indices (input 1) are of dimension "axis" of the data (input 0).
Status emit_axis_index_check(LowerContext& c);
/// The dimensions of the data (input 0) that a tuple of the indices (input 1) chooses from, behind `batch_dims`.
Dims indexed_dims(const LowerContext& c, size_t batch_dims = 0);

/// Data seen as [outer][size][inner].
struct GatherShape {
  int64_t outer, size, inner, indices;
};

/// Output 0 = slices of input 0 chosen by `indices`, which have been checked; int64 when `wide`, else int32.
void emit_gather(LowerContext& c, GatherShape shape, Buffer indices, bool wide);
Status emit_gather_elements(LowerContext& c, size_t axis);
Status emit_gather_nd(LowerContext& c, size_t batch_dims);

}  // namespace svengine::ops
