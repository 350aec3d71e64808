// LeakyRelu: x below 0 ? alpha x : x.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_leaky_relu() {
  OpDef op = unary_with<kernels::UnaryOp::kLeakyRelu>("LeakyRelu", true,
                                               {{"alpha", AttributeKind::real, false, real(0.01f)}});
  op.since = 6;
  op.samples.push_back({.inputs = {f32({3, 19}, -6, 6)}, .attributes = {{"alpha", real(0.75f)}}});
  return op;
}

}  // namespace svengine::ops
