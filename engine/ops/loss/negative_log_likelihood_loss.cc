// NegativeLogLikelihoodLoss: the cross entropy of log-probabilities over dimension 1 and labels, its mean weighted by the labels'
// weights.
#include "engine/ops/infer_util.h"
#include "engine/ops/loss/loss_common.h"

namespace svengine::ops {
namespace {

Status infer_negative_log_likelihood_loss(InferContext& c) {
  SV_TRY(check_loss(c, 0));
  c.set(0, c.dtype(0), loss_shape(c, 1));
  return {};
}

}  // namespace

OpDef define_negative_log_likelihood_loss() {
  return {
      .name = "NegativeLogLikelihoodLoss",
      .since = 12,
      .inputs = "input, target, weight?",
      .attributes = loss_attributes(),
      .infer = infer_negative_log_likelihood_loss,
      .lower = [](LowerContext& c) { return lower_loss(c, 0, c.in(0)); },
      .types = {{"T", kRealTypes, {0, 2}}, {"Tind", kIndexTypes, {1}}},
      .gradient = [](GradientContext& c) { return set_loss_gradient(c, c.input(0), false); },
      .samples = "(float32[7, 33] -5 to 0, int64[7] 0 to 33)"
                 R"((float32[2, 5, 3, 19] -5 to 0, int32[2, 3, 19] 0 to 5, float32[5]{0.5, 1.0, 2.0, 0.25, 1.5}) {reduction = "none", )"
                 "ignore_index = 3}"
                 R"((float32[4, 18, 2] -5 to 0, int64[4, 2] 0 to 18) {reduction = "sum", label_smoothing = 0.1})"
                 "(float64[4, 18, 2] -5 to 0, int64[4, 2] 0 to 18, float64[18] 0.5 to 2)",
  };
}

}  // namespace svengine::ops
