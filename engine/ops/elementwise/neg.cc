// Neg: -x.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status neg_gradient(GradientContext& c) {
  c.set(0, c.op("Neg", {c.dy()}));
  return {};
}

}  // namespace

OpDef define_neg() {
  OpDef op = plain_unary<kernels::UnaryOp::kNeg, kRealTypes | kSignedTypes>("Neg", "X", true);
  op.samples += "(int64[2, 9] -5 to 5)";
  op.gradient = neg_gradient;
  return op;
}

}  // namespace svengine::ops
