// LRN: local response normalisation across neighbouring channels.
#include "engine/graph/gradient.h"
#include "engine/kernels/norm.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

Status infer_lrn(InferContext& c) {
  SV_TRY(require_rank_at_least(c, 0, 2));
  if (c.attributes().get_int("size") < 1) return error("size is {}, needs at least 1", c.attributes().get_int("size"));
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

Status lower_lrn(LowerContext& c) {
  if (wide::is_wide(c)) {
    wide::emit_local_response(c);
    return {};
  }
  const Dims dims = c.in_dims(0);
  kernels::LocalResponseArgs args;
  args.batch = dims[0];
  args.channels = dims[1];
  args.spatial = element_count(std::span(dims).subspan(2));
  args.size = c.attributes().get_int("size");
  args.alpha = c.attributes().get_float("alpha", 1e-4f);
  args.beta = c.attributes().get_float("beta", 0.75f);
  args.bias = c.attributes().get_float("bias", 1.0f);
  emit_kernel(c, "local_response", c.kernels().norm->local_response, args,
              [in = c.in(0), out = c.out()](kernels::LocalResponseArgs& a, const Run& run) {
                a.x = run.get<const float>(in);
                a.y = run.get<float>(out);
              });
  return {};
}

Status lrn_gradient(GradientContext& c) {
  c.set(0, c.internal("LrnGrad", {c.dy(), c.input(0)}, c.attributes()));
  return {};
}

}  // namespace

OpDef define_lrn() {
  return {
      .name = "LRN",
      .inputs = "X",
      .attributes = {{"size", AttributeKind::kInt, true},
                     {"alpha", AttributeKind::kFloat, false, 1e-4f},
                     {"beta", AttributeKind::kFloat, false, 0.75f},
                     {"bias", AttributeKind::kFloat, false, 1.0f}},
      .infer = infer_lrn,
      .lower = lower_lrn,
      .types = {{"T", kRealTypes, {0}}},
      .gradient = lrn_gradient,
      .samples = "(float32[2, 9, 5, 3]) {size = 5, alpha = 0.01}"
                 "(float32[1, 3, 5]) {size = 4611686018427387904}"
                 "(float64[2, 9, 5]) {size = 4, alpha = 0.01}",
  };
}

}  // namespace svengine::ops
