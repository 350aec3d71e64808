// Sum: the inputs' sum. Of two it is an Add, and import makes it one.
#include "engine/graph/gradient.h"
#include "engine/graph/op_registry.h"
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

Status canonicalize_sum(CanonicalizeContext& c) {
  if (c.node().inputs().size() == 2) c.graph().set_op(&c.node(), *c.ops().find("", "Add"));
  return {};
}

Status sum_gradient(GradientContext& c) {
  for (size_t i = 0; i < c.node().inputs().size(); ++i)
    if (c.wants(i)) c.set(i, c.sum_to(c.dy(), c.input(i)));
  return {};
}

}  // namespace

OpDef define_sum() {
  OpDef op = variadic_op("Sum", infer_binary<kRealTypes, false>, lower_variadic<kernels::BinaryOp::kAdd>);
  op.canonicalize = canonicalize_sum;
  op.gradient = sum_gradient;
  op.types = {{"T", kRealTypes, {0}}};
  return op;
}

}  // namespace svengine::ops
