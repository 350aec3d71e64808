#include "engine/ops/elementwise/unary_common.h"

#include "engine/ops/convert/small_cast_common.h"
#include "engine/ops/kernel_step.h"

namespace svengine::ops {

int64_t stored_count(const Type& type) {
  return static_cast<int64_t>(stored_bytes(type)) / static_cast<int64_t>(size_of(type.dtype));
}

void emit_cast(LowerContext& c, Buffer in, DType from, Buffer out, DType to, int64_t count, ByteFloatRules rules) {
  if (is_small_type(from) || is_small_type(to)) return emit_small_cast(c, in, from, out, to, count, rules);
  const kernels::CastArgs args{.from = from, .to = to, .n = count};
  emit_kernel(c, fmt::format("cast_{}_{}", name_of(from), name_of(to)), c.kernels().elementwise->cast, args,
              [in, out](kernels::CastArgs& a, const Run& run) {
                a.x = run.get<void>(in);
                a.y = run.get<void>(out);
              });
}

Buffer converted(LowerContext& c, Buffer from, DType type, DType to, int64_t count) {
  if (type == to) return from;
  const Buffer result = c.temporary(count * static_cast<int64_t>(size_of(to)));
  emit_cast(c, from, type, result, to, count);
  return result;
}

void emit_unary(LowerContext& c, const char* kernel, kernels::UnaryArgs args) {
  args.type = c.in_type(0).dtype;
  args.n = stored_count(c.in_type(0));
  emit_kernel(c, kernel, c.kernels().elementwise->unary, args, [in = c.in(0), out = c.out()](kernels::UnaryArgs& a, const Run& run) {
    a.x = run.get<void>(in);
    a.y = run.get<void>(out);
  });
}

void set_types(OpDef& op, DTypeSet types) {
  op.types = {{"T", types, {}}};
  for (int i = 0; i < op.inputs.arity().min; ++i) op.types[0].inputs.insert(i);
  for (const DType type : {DType::f64, DType::f16, DType::bf16, DType::i8, DType::u64}) {
    if (!types.has(type)) continue;
    const std::string input = fmt::format("{}[3] {} to 3", name_of(type), type == DType::u64 ? 1 : -2);
    op.samples += '(' + input;
    for (int i = 1; i < op.inputs.arity().min; ++i) op.samples += ", " + input;
    op.samples += ')';
  }
}

OpDef unary_op(const char* name, OpInputs inputs, Status (*infer)(InferContext&), Status (*lower)(LowerContext&), bool finite) {
  return {
      .name = name,
      .inputs = inputs,
      .infer = infer,
      .lower = lower,
      .traits = {.may_overwrite = true, .transposed = transposed_elementwise},
      .blocked = {.mode = finite ? BlockedMode::follows : BlockedMode::never},
      .samples = "(float32[2, 3, 5, 7])"
                 "(float32[1003] -10 to 10)"
                 "(float32[])",
  };
}

}  // namespace svengine::ops
