// Where: x where the condition is true, else y; all three broadcast.
#include "engine/graph/gradient.h"
#include "engine/graph/transposed_node.h"
#include "engine/ops/elementwise/binary_common.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/kernel_step.h"

namespace svengine::ops {
namespace {

Status infer_where(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kBool));
  SV_TRY(require_dtype(c, 1, kStoredTypes | DTypeSet{DType::string}));
  SV_TRY(require_same_dtypes(c, 1));
  SV_ASSIGN(Shape out, broadcast_inputs(c));
  c.set(0, c.dtype(1), std::move(out));
  return {};
}

Status lower_where(LowerContext& c) {
  const Operand condition = operand_of(c, 0), x = operand_of(c, 1), y = operand_of(c, 2), out = result_of(c);
  kernels::WhereArgs args;
  args.element_bytes = static_cast<int32_t>(size_of(out.type));
  SV_ASSIGN(args.broadcast, broadcast_of(out.dims, {&condition, &x, &y}));
  emit_kernel(c, "where", c.kernels().elementwise->where, args,
              [condition = condition.buffer, x = x.buffer, y = y.buffer, out = out.buffer](kernels::WhereArgs& a, const Run& run) {
                a.condition = run.get<uint8_t>(condition);
                a.x = run.get<void>(x);
                a.y = run.get<void>(y);
                a.result = run.get<void>(out);
              });
  return {};
}

Status where_gradient(GradientContext& c) {
  Value* zero = c.scalar(0, c.dy());
  if (c.wants(1)) c.set(1, c.sum_to(c.op("Where", {c.input(0), c.dy(), zero}), c.input(1)));
  if (c.wants(2)) c.set(2, c.sum_to(c.op("Where", {c.input(0), zero, c.dy()}), c.input(2)));
  return {};
}

}  // namespace

OpDef define_where() {
  return {
      .name = "Where",
      .since = 9,
      .inputs = "condition, X, Y",
      .infer = infer_where,
      .lower = lower_where,
      .evaluate = evaluate_strings,
      .types = {{"B", kBool, {0}}, {"T", kAllTypes, {1, 2}}},
      .kernel_types = kDenseTypes,
      .gradient = where_gradient,
      .traits = {.moves_elements = always, .transposed = transposed_elementwise},
      .samples = "(bool[3, 37] 0 to 2, float32[3, 37], float32[3, 37])"
                 "(bool[2, 1, 1, 9] 0 to 2, float32[2, 3, 5, 9], float32[])"
                 "(bool[5] 0 to 2, int64[2, 5], int64[1])",
  };
}

}  // namespace svengine::ops
