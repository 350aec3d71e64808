// NegativeLogLikelihoodLoss: the cross entropy of log-probabilities over dimension 1 and labels, its mean weighted by the labels'
// weights.
#include "engine/ops/infer_util.h"
#include "engine/ops/loss/loss_common.h"
#include "engine/ops/samples.h"

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
      .inputs = {2, 3},
      .attributes = loss_attributes(),
      .infer = infer_negative_log_likelihood_loss,
      .lower = [](LowerContext& c) { return lower_loss(c, 0, c.in(0)); },
      .types = {{"T", kRealTypes, {0, 2}}, {"Tind", kIndexTypes, {1}}},
      .gradient = [](GradientContext& c) { return set_loss_gradient(c, c.input(0), false); },
      .samples = {{.inputs = {f32({7, 33}, -5, 0), any(DType::i64, {7}, 0, 33)}},
                  {.inputs = {f32({2, 5, 3, 19}, -5, 0), any(DType::i32, {2, 3, 19}, 0, 5),
                              fixed(Tensor::of<float>({5}, {0.5f, 1.0f, 2.0f, 0.25f, 1.5f}))},
                   .attributes = {{"reduction", text("none")}, {"ignore_index", integer(3)}}},
                  {.inputs = {f32({4, 18, 2}, -5, 0), any(DType::i64, {4, 2}, 0, 18)},
                   .attributes = {{"reduction", text("sum")}, {"label_smoothing", real(0.1f)}}},
                  {.inputs = {any(DType::f64, {4, 18, 2}, -5, 0), any(DType::i64, {4, 2}, 0, 18), any(DType::f64, {18}, 0.5, 2)}}},
  };
}

}  // namespace svengine::ops
