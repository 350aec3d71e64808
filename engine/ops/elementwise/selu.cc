// Selu: gamma (x above 0 ? x : alpha (e^x - 1)).
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_selu() {
  OpDef op = unary_with<kernels::UnaryOp::kSelu>("Selu", true,
                                               {{"alpha", AttributeKind::real, false, real(1.67326319217681884765625f)},
                                               {"gamma", AttributeKind::real, false, real(1.05070102214813232421875f)}});
  op.since = 6;
  op.samples.push_back({.inputs = {f32({3, 19}, -6, 6)}, .attributes = {{"alpha", real(0.75f)}, {"gamma", real(1.5f)}}});
  return op;
}

}  // namespace svengine::ops
