// Log: the natural logarithm; NaN below 0.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status log_gradient(GradientContext& c) {
  c.set(0, c.op("Div", {c.dy(), c.input(0)}));
  return {};
}

}  // namespace

OpDef define_log() {
  OpDef op = plain_unary<kernels::UnaryOp::kLog>("Log", "input", false);
  op.samples = "(float32[2, 3, 5, 7] 0.001 to 100)"
               "(float32[1003] 0.001 to 100)";
  op.gradient = log_gradient;
  return op;
}

}  // namespace svengine::ops
