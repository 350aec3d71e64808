// svengine.Silu: x * sigmoid(x), recognised from the product that exporters write.
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/fused_activation.h"

namespace svengine::ops {
namespace {

Status silu_gradient(GradientContext& c) {
  return set_activation_gradient(c, "silu", c.input(0));
}

}  // namespace

OpDef define_silu() {
  OpDef op = plain_unary<kernels::UnaryOp::kSilu, DTypeSet{DType::f32}>("Silu", "x", true);
  op.domain = kInternalDomain;
  op.traits.activation = activation_of_node;
  op.gradient = silu_gradient;
  return op;
}

}  // namespace svengine::ops
