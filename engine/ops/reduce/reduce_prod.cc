// ReduceProd: the product over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {
namespace {

/// dy times the product of the others, which is the whole product divided by the element, but where there are zeros: with one, only
/// its own gradient is not zero; with more, none is.
Status reduce_prod_gradient(GradientContext& c) {
  Value *x = c.input(0), *zero = c.scalar(0, x), *axes = c.input(1);
  Attributes kept = c.attributes();
  kept.set("keepdims", int64_t{1});
  const auto reduced = [&](const char* op, Value* v) {
    return c.op(op, axes ? std::vector<Value*>{v, axes} : std::vector<Value*>{v}, kept);
  };
  Value* is_zero = c.op("Equal", {x, zero});
  Value* zeros = c.op("Cast", {is_zero}, make_attributes({{"to", static_cast<int64_t>(x->type.dtype)}}));
  Value* factors = c.op("Where", {is_zero, c.scalar(1, x), x});
  Value* other_zeros = c.op("Sub", {reduced("ReduceSum", zeros), zeros});
  Value* others = c.op("Div", {reduced("ReduceProd", factors), factors});
  Value* share = c.op("Where", {c.op("Equal", {other_zeros, zero}), others, zero});
  c.set(0, c.op("Mul", {share, kept_dims(c, c.dy())}));
  return {};
}

}  // namespace

OpDef define_reduce_prod() {
  OpDef op = reduction<kernels::ReduceOp::kProd>("ReduceProd");
  op.gradient = reduce_prod_gradient;
  op.types = {{"T", kWideTypes, {0}}, {"axes", DTypeSet{DType::i64}, {1}}};
  return op;
}

}  // namespace svengine::ops
