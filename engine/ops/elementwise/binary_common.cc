#include "engine/ops/elementwise/binary_common.h"

#include "engine/graph/op_registry.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {

Operand operand_of(LowerContext& c, size_t i) {
  const Type& type = c.in_type(i);
  if (c.out_type().block && !type.block) return {c.in(i), type.dtype, {}};  // a scalar: the only plain operand beside blocked ones
  return {c.in(i), type.dtype, stored_dims(type)};
}

Operand result_of(LowerContext& c) { return {c.out(), c.out_type().dtype, stored_dims(c.out_type())}; }

Result<kernels::Broadcast> broadcast_of(const Dims& out, std::initializer_list<const Operand*> operands) {
  const int64_t* dims[3];
  int ranks[3];
  int n = 0;
  for (const Operand* o : operands) {
    dims[n] = o->dims.data();
    ranks[n++] = static_cast<int>(o->dims.size());
  }
  kernels::Broadcast result;
  if (!kernels::make_broadcast(out.data(), static_cast<int>(out.size()), dims, ranks, n, &result))
    return unimplemented("the operands alternate between repeated and own dimensions more than {} times", kernels::kMaxBroadcastDims);
  return result;
}

Operand converted(LowerContext& c, Operand from, DType to) {
  from.buffer = converted(c, from.buffer, from.type, to, element_count(from.dims));
  from.type = to;
  return from;
}

Status emit_binary(LowerContext& c, kernels::BinaryOp op, Operand a, Operand b, const Operand& out) {
  kernels::BinaryArgs args;
  args.op = op;
  args.type = a.type;
  SV_ASSIGN(args.broadcast, broadcast_of(out.dims, {&a, &b}));
  emit_kernel(c, c.node().op().name, c.kernels().elementwise->binary, args,
              [a = a.buffer, b = b.buffer, y = out.buffer](kernels::BinaryArgs& args, const Run& run) {
                args.a = run.get<void>(a);
                args.b = run.get<void>(b);
                args.y = run.get<void>(y);
              });
  return {};
}

Status emit_variadic(LowerContext& c, kernels::BinaryOp op) {
  const Operand out = result_of(c);
  if (c.input_count() == 1) {
    emit_unary(c, "copy", {.op = kernels::UnaryOp::kIdentity});
    return {};
  }
  SV_TRY(emit_binary(c, op, operand_of(c, 0), operand_of(c, 1), out));
  for (size_t i = 2; i < c.input_count(); ++i) SV_TRY(emit_binary(c, op, out, operand_of(c, i), out));
  return {};
}

Status canonicalize_binary(CanonicalizeContext& c) {
  if (c.opset() >= 7) return {};
  const bool broadcast = c.attributes().get_int("broadcast") != 0, has_axis = c.attributes().has("axis");
  const int64_t axis = c.attributes().get_int("axis");
  c.attributes().erase("broadcast");
  c.attributes().erase("axis");
  const Value *a = c.node().input(0), *b = c.node().input(1);
  if (!broadcast || !has_axis || !a || !b) return {};
  if (!a->type.shape.has_rank() || !b->type.shape.has_rank()) return error("attribute 'axis' needs inputs of known rank");
  const int64_t rank = a->type.shape.rank(), trailing = rank - (axis < 0 ? axis + rank : axis) - b->type.shape.rank();
  if (trailing < 0 || trailing >= rank)
    return error("axis {} does not fit inputs of ranks {} and {}", axis, rank, b->type.shape.rank());
  return add_trailing_dims(c, 1, trailing);
}

Status add_trailing_dims(CanonicalizeContext& c, size_t slot, int64_t count) {
  if (count <= 0) return {};
  Graph& graph = c.graph();
  Value* value = c.node().input(slot);
  std::vector<int64_t> axes;
  for (int64_t i = count; i > 0; --i) axes.push_back(-i);
  Value* list = graph.add_constant(value->name() + ".axes", Tensor::of<int64_t>({count}, std::span<const int64_t>(axes)));
  Node* unsqueeze = graph.add_node(*c.ops().find("", "Unsqueeze"), value->name() + ".aligned", {value, list}, 1, {}, &c.node());
  SV_TRY(infer_types(*unsqueeze));
  graph.set_input(&c.node(), slot, unsqueeze->output());
  return {};
}

OpDef binary_op(const char* name, OpInputs inputs, Status (*infer)(InferContext&), Status (*lower)(LowerContext&), bool follows_blocks) {
  return {
      .name = name,
      .inputs = inputs,
      .canonicalize = canonicalize_binary,
      .infer = infer,
      .lower = lower,
      .traits = {.may_overwrite = true, .transposed = transposed_elementwise},
      .blocked = {.mode = follows_blocks ? BlockedMode::follows : BlockedMode::never},
      .samples = "(float32[2, 3, 5, 7], float32[2, 3, 5, 7] 0.5 to 3)"
                 "(float32[2, 3, 5, 7], float32[3, 1, 1] 0.5 to 3)"
                 "(float32[4, 1, 33], float32[5, 1] 0.5 to 3)"
                 "(float32[], float32[1003] 0.5 to 3)",
  };
}

OpDef variadic_op(const char* name, Status (*infer)(InferContext&), Status (*lower)(LowerContext&)) {
  OpDef op = binary_op(name, "data_0...", infer, lower, true);
  op.canonicalize = nullptr;
  // With three inputs and more, input 0 may be needed again after the first step has written the output.
  op.traits.may_overwrite = false;
  op.samples = "(float32[3, 21])"
               "(float32[2, 3, 5, 7], float32[5, 1], float32[2, 1, 1, 7])"
               "(float32[4, 9], float32[9])";
  return op;
}

}  // namespace svengine::ops
