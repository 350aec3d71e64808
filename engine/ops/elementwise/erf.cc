// Erf: the error function, 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status erf_gradient(GradientContext& c) {
  return set_activation_gradient(c, "erf", c.input(0));
}

}  // namespace

OpDef define_erf() {
  OpDef op = plain_unary<kernels::UnaryOp::kErf>("Erf", "input", true);
  op.since = 9;
  op.gradient = erf_gradient;
  return op;
}

}  // namespace svengine::ops
