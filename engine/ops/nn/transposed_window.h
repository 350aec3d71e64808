// The window of a ConvTranspose, and what its operands have in common.
#pragma once
#include "engine/graph/op_def.h"
#include "engine/ops/nn/window_common.h"

namespace svengine::ops {

/// That of the convolution whose gradient it is, for the spatial dimensions of X and the kernel: `in` is Y, `out` is X.
Result<Window> transposed_window(const Attributes& attributes, const Dims& x, const Dims& kernel);

/// The group, and the channels of X (input 0), W (1) and B (input `bias`), as far as they are known.
Status check_transpose_channels(const InferContext& c, size_t bias);

}  // namespace svengine::ops
