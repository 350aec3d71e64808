// Gradients of pooling in NCHWc; see pool/grad_blocked.cc.
#pragma once
#include "engine/kernels/sve/vec.h"
#include "engine/kernels/window_grad.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::pool {

/// One plane: a channel block of an image.
void grad_blocked_plane(const PoolGradArgs& args, int64_t plane);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::pool
