// Elu: x above 0 ? x : alpha (e^x - 1).
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_elu() {
  OpDef op = unary_with<kernels::UnaryOp::kElu>("Elu", true, {{"alpha", AttributeKind::real, false, real(1.0f)}});
  op.since = 6;
  op.samples.push_back({.inputs = {f32({3, 19}, -6, 6)}, .attributes = {{"alpha", real(0.75f)}}});
  return op;
}

}  // namespace svengine::ops
