// CumSum: running sums along an axis; exclusive ones leave the element itself out, reverse ones run from the end.
#include "engine/graph/gradient.h"
#include "engine/kernels/reduce.h"
#include "engine/graph/axes.h"
#include "engine/ops/element.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

/// The axis is an input. It decides no shape, but how the work is cut, so it has to be known when the node is planned; until it
/// is, the output's dimensions are left unknown, which makes the session compute the axis first.
Status infer_cum_sum(InferContext& c) {
  SV_TRY(require_single(c, 1, "axis"));
  SV_TRY(require_rank_at_least(c, 0, "x", 1));
  const auto axis = c.integers(1);
  if (axis && c.shape(0).has_rank()) SV_TRY(normalise_axis(axis->at(0), c.shape(0).rank()));
  c.set(0, c.dtype(0), axis ? c.shape(0) : Shape());
  return {};
}

Status lower_cum_sum(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  if (!c.constant(1)) return error("input 1 (axis) is not known when the node is planned");
  SV_ASSIGN(const int64_t axis, normalise_axis(c.constant(1)->as_int64s().at(0), static_cast<int64_t>(dims.size())));
  const std::span<const int64_t> all(dims);
  kernels::CumSumArgs args;
  const DType type = c.out_type().dtype;
  args.type = type == DType::u32 ? DType::i32 : type == DType::u64 ? DType::i64 : type;  // what wraps adds up to the same bits
  args.exclusive = c.attributes().get_int("exclusive") != 0;
  args.reverse = c.attributes().get_int("reverse") != 0;
  args.outer = element_count(all.first(static_cast<size_t>(axis)));
  args.n = dims[static_cast<size_t>(axis)];
  args.inner = element_count(all.subspan(static_cast<size_t>(axis) + 1));
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
      .inputs = {2, 2},
      .attributes = {{"exclusive", AttributeKind::kInt, false, integer(0)}, {"reverse", AttributeKind::kInt, false, integer(0)}},
      .infer = infer_cum_sum,
      .lower = lower_cum_sum,
      .types = {{"T", kWideTypes, {0}}, {"T2", kIndexTypes, {1}}},
      .gradient = cum_sum_gradient,
      .traits = {.shape_inputs = {1}},
      .samples = {{.inputs = {f32({3, 70}), fixed(Tensor::scalar<int64_t>(-1))}},
                  {.inputs = {f32({5, 70}), fixed(Tensor::scalar<int32_t>(0))},
                   .attributes = {{"exclusive", integer(1)}, {"reverse", integer(1)}}},
                  {.inputs = {any(DType::i64, {2, 3, 4}, -9, 9), fixed(Tensor::scalar<int64_t>(1))}},
                  {.inputs = {any(DType::u32, {2, 9}, 0, 9), fixed(Tensor::scalar<int64_t>(1))}},
                  {.inputs = {any(DType::bf16, {2, 9}, -2, 2), fixed(Tensor::scalar<int64_t>(1))}}},
  };
}

}  // namespace svengine::ops
