// Softplus: log(1 + e^x).
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status softplus_gradient(GradientContext& c) {
  return set_activation_gradient(c, "softplus", c.input(0));
}

}  // namespace

OpDef define_softplus() {
  OpDef op = plain_unary<kernels::UnaryOp::kSoftplus>("Softplus", "X", true);
  op.gradient = softplus_gradient;
  return op;
}

}  // namespace svengine::ops
