// Softmax, LogSoftmax and Hardmax: one axis since opset 13; before, everything from `axis` on as one line ("coerced").
#pragma once
#include "engine/graph/gradient.h"
#include "engine/kernels/softmax.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {

/// The OpDef of one of the three: its name and its kernel.
OpDef softmax_like(const char* name, Status (*lower)(LowerContext&));

/// For gradients: svengine.SoftmaxGrad along the node's axis.
Status set_softmax_gradient(GradientContext& c, bool log);

Status lower_softmax(LowerContext& c, wide::SoftmaxKind kind, const kernels::TaskKernel<kernels::SoftmaxArgs>& run);

}  // namespace svengine::ops
