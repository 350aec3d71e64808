// The window of a ConvTranspose.
#pragma once
#include "engine/ops/nn/window_common.h"

namespace svengine::ops {

/// That of the convolution whose gradient it is, for the spatial dimensions of X and the kernel: `in` is Y, `out` is X.
Result<Window> transposed_window(const Attributes& attributes, const Dims& x, const Dims& kernel);

}  // namespace svengine::ops
