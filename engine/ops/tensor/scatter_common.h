// Writing updates into a copy of the data at places given by indices. Places may repeat, so updates are applied in the order
// of the indices. The output may be the data's memory; then nothing is copied.
#pragma once
#include "engine/ops/tensor/index_common.h"

namespace svengine::ops {

/// Updates of the data's type; a known reduction, on numbers.
Status check_scatter(const InferContext& c);

/// OpDef::kernel_types_of: any type moves, few are computed with.
DTypeSet scatter_kernel_types(const Node& node);

Status emit_scatter_elements(LowerContext& c, size_t axis);
Status emit_scatter_nd(LowerContext& c);

}  // namespace svengine::ops
