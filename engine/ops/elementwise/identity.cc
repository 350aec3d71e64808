// Identity: the input.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

/// Of any value, sequences and optionals included.
Status infer_identity(InferContext& c) {
  c.set(0, c.type(0));
  return {};
}

Status identity_gradient(GradientContext& c) {
  c.set(0, c.dy());
  return {};
}

}  // namespace

OpDef define_identity() {
  OpDef op = unary_op("Identity", "input", infer_identity, nullptr, false);
  op.traits.may_overwrite = false;
  op.traits.is_view = true;
  op.traits.is_identity = [](const Node&) { return true; };
  op.samples += "(int64[2, 9] -5 to 5)";
  op.gradient = identity_gradient;
  return op;
}

}  // namespace svengine::ops
