// PRelu: x below 0 ? slope x : x. The slope broadcasts to x, not the other way round.
#include "engine/graph/gradient.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

/// Before opset 7 a slope vector was one value per channel, dimension 1.
Status canonicalize_prelu(CanonicalizeContext& c) {
  const Value *x = c.node().input(0), *slope = c.node().input(1);
  if (c.opset() >= 7 || !x || !slope || slope->type.shape.rank() != 1 || x->type.shape.rank() <= 2) return {};
  return add_trailing_dims(c, 1, x->type.shape.rank() - 2);
}

Status infer_prelu(InferContext& c) {
  SV_TRY((infer_binary<kRealTypes | DTypeSet{DType::i32, DType::i64, DType::u32, DType::u64}, false>(c)));
  SV_TRY(require_broadcast_to(c, 1, c.shape(0), "X"));
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

Status prelu_gradient(GradientContext& c) {
  Value *x = c.input(0), *slope = c.input(1), *zero = c.scalar(0, x);
  Value* below = c.op("Less", {x, zero});
  if (c.wants(0)) c.set(0, c.op("Where", {below, c.op("Mul", {c.dy(), slope}), c.dy()}));
  if (c.wants(1)) c.set(1, c.sum_to(c.op("Where", {below, c.op("Mul", {c.dy(), x}), zero}), slope));
  return {};
}

}  // namespace

OpDef define_prelu() {
  OpDef op = binary_op("PRelu", "X, slope", infer_prelu, lower_binary<kernels::BinaryOp::kPRelu>, true);
  op.canonicalize = canonicalize_prelu;
  op.samples = "(float32[2, 3, 5, 7], float32[3, 1, 1])"
               "(float32[4, 33], float32[33])"
               "(float32[9], float32[9])";
  op.gradient = prelu_gradient;
  op.types = {{"T", kWideTypes, {0, 1}}};
  return op;
}

}  // namespace svengine::ops
