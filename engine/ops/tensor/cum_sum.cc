// CumSum: running sums along an axis; exclusive ones leave the element itself out, reverse ones run from the end.
#include "engine/graph/gradient.h"
#include "engine/kernels/reduce.h"
#include "engine/ops/element.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/tensor/cumulative_common.h"

namespace svengine::ops {
namespace {

Status lower_cum_sum(LowerContext& c) {
  SV_ASSIGN(const Cumulation cut, cumulation_of(c));
  kernels::CumSumArgs args;
  const DType type = c.out_type().dtype;
  args.type = type == DType::u32 ? DType::i32 : type == DType::u64 ? DType::i64 : type;  // what wraps adds up to the same bits
  args.exclusive = cut.exclusive;
  args.reverse = cut.reverse;
  args.outer = cut.outer;
  args.n = cut.n;
  args.inner = cut.inner;
  emit_kernel(c, "cum_sum", c.kernels().reduce->cumulative_sum, args,
              [x = c.in(0), y = c.out()](kernels::CumSumArgs& a, const Run& run) {
                a.x = run.get<void>(x);
                a.y = run.get<void>(y);
              });
  return {};
}

Status cum_sum_gradient(GradientContext& c) {
  Attributes attributes = c.attributes();
  attributes.set("reverse", int64_t{attributes.get_int("reverse") == 0});
  c.set(0, c.op("CumSum", {c.dy(), c.input(1)}, std::move(attributes)));
  return {};
}

}  // namespace

OpDef define_cum_sum() {
  return {
      .name = "CumSum",
      .since = 11,
      .inputs = "x, axis",
      .attributes = {{"exclusive", AttributeKind::kInt, false, 0}, {"reverse", AttributeKind::kInt, false, 0}},
      .infer = infer_cumulative,
      .lower = lower_cum_sum,
      .types = {{"T", kWideTypes, {0}}, {"T2", kIndexTypes, {1}}},
      .gradient = cum_sum_gradient,
      .traits = {.shape_inputs = {1}},
      .samples = "(float32[3, 70], int64[]{-1})"
                 "(float32[5, 70], int32[]{0}) {exclusive = 1, reverse = 1}"
                 "(int64[2, 3, 4] -9 to 9, int64[]{1})"
                 "(uint32[2, 9] 0 to 9, int64[]{1})"
                 "(bfloat16[2, 9], int64[]{1})",
  };
}

}  // namespace svengine::ops
