// svengine.ExpandLike: input 0 repeated to the shape of input 1 as NumPy broadcasts; with mean = 1 divided by the number of
// repetitions, so that the sum stays what it was. What the operand of a sum or a mean gets for a gradient.
#include "engine/ops/broadcast.h"
#include "engine/ops/element.h"
#include "engine/ops/elementwise/binary_common.h"
#include "engine/ops/like.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

Status infer_expand_like(InferContext& c) {
  const bool mean = c.attributes().get_int("mean") != 0;
  SV_TRY(require_dtype(c, 0, mean ? kRealTypes : kStoredTypes));
  SV_ASSIGN(Shape shape, like_shape(c, 1));
  SV_TRY(require_broadcast_to(c, 0, shape, "shape"));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

/// x times 1 / repetitions, which is small beside what it is repeated to.
Result<Buffer> shared_out(LowerContext& c, int64_t repetitions) {
  const Operand x = operand_of(c, 0);
  const Tensor share = scalar_of(x.type, 1.0 / static_cast<double>(repetitions));
  const Operand number{c.table({share.raw(), share.byte_size()}), x.type, {}};
  const Buffer scaled = c.temporary(element_count(x.dims) * static_cast<int64_t>(size_of(x.type)));
  SV_TRY(emit_binary(c, kernels::BinaryOp::kMul, x, number, {scaled, x.type, x.dims}));
  return scaled;
}

Status lower_expand_like(LowerContext& c) {
  const Dims in = c.in_dims(0), out = c.out_dims();
  const int64_t count = element_count(in), total = element_count(out);
  if (total == 0) return {};
  Buffer from = c.in(0);
  if (c.attributes().get_int("mean") && total != count) {
    SV_ASSIGN(from, shared_out(c, total / count));
  }
  const CopyView view{.dims = out, .in_strides = broadcast_strides(in, out), .out_strides = strides_of(out)};
  emit_copies(c, "expand", size_of(c.out_type().dtype), {{from, c.out(), view}});
  return {};
}

/// All types move; numbers are averaged.
DTypeSet expand_like_kernel_types(const Node& node) {
  return node.attributes.get_int("mean") ? kDenseTypes - kNarrowFloatTypes : kDenseTypes;
}

/// Of a mean every element of the result is its operand's over the number of repetitions, which 1 shows.
Status expand_like_gradient(GradientContext& c) {
  Value* dy = c.dy();
  if (c.attributes().get_int("mean") != 0) dy = c.op("Mul", {dy, c.expand_to(filled_like(c.builder(), c.input(0), 1), dy, true)});
  c.set(0, c.sum_to(dy, c.input(0)));
  return {};
}

}  // namespace

OpDef define_expand_like() {
  return {
      .name = "ExpandLike",
      .domain = kInternalDomain,
      .inputs = "x, like?",
      .attributes = {shape_attribute(), {"mean", AttributeKind::kInt, false, 0}},
      .infer = infer_expand_like,
      .lower = lower_expand_like,
      .kernel_types_of = expand_like_kernel_types,
      .cost = movement_cost,
      .gradient = expand_like_gradient,
      .traits = {.is_identity = keeps_type, .shape_only_input = 1},
      .samples = "(float32[3, 1, 1], float32[2, 3, 5, 7])"
                 "(float32[2, 3, 1, 1], float32[2, 3, 5, 7]) {mean = 1}"
                 "(float32[]) {shape = [4, 17]}",
  };
}

}  // namespace svengine::ops
