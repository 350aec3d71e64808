// SoftmaxCrossEntropyLoss: the cross entropy of softmax(scores) over dimension 1 and labels, its mean weighted by the labels'
// weights. Optional output 1 is the log-softmax, which the gradient is made from.
#include "engine/kernels/softmax.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/loss/loss_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

Status infer_softmax_cross_entropy_loss(InferContext& c) {
  SV_TRY(check_loss(c, 0));
  c.set(0, c.dtype(0), loss_shape(c, 1));
  c.set(1, c.type(0));
  return {};
}

Status lower_softmax_cross_entropy_loss(LowerContext& c) {
  const kernels::CrossEntropyArgs sizes = cross_entropy_args(c, 0);
  if (sizes.classes == 0) return error("scores {} have no classes", to_string(c.in_type(0).shape));
  const Buffer log_p =
      c.has_output(1) ? c.out(1) : c.temporary(sizes.batch * sizes.classes * sizes.inner * static_cast<int64_t>(size_of(c.in_type(0).dtype)));
  if (wide::is_wide(c)) {
    wide::emit_softmax(c, wide::SoftmaxKind::log_softmax, sizes.batch, sizes.classes, sizes.inner, log_p);
    return lower_loss(c, 0, log_p);
  }
  kernels::SoftmaxArgs args;
  args.outer = sizes.batch, args.n = sizes.classes, args.inner = sizes.inner;
  args.x_outer_stride = args.y_outer_stride = args.n * args.inner;
  emit_kernel(c, "log_softmax", c.kernels().softmax->log_softmax, args,
              [in = c.in(0), log_p](kernels::SoftmaxArgs& a, const Run& run) {
                a.x = run.get<const float>(in);
                a.y = run.get<float>(log_p);
              });
  return lower_loss(c, 0, log_p);
}

}  // namespace

OpDef define_softmax_cross_entropy_loss() {
  return {
      .name = "SoftmaxCrossEntropyLoss",
      .since = 12,
      .inputs = "scores, labels, weights?",
      .outputs = {1, 2},
      .attributes = loss_attributes(),
      .infer = infer_softmax_cross_entropy_loss,
      .lower = lower_softmax_cross_entropy_loss,
      .types = {{"T", kRealTypes, {0, 2}}, {"Tind", kIndexTypes, {1}}},
      .gradient = [](GradientContext& c) { return set_loss_gradient(c, c.output(1), true); },
      .samples = "(float32[7, 33] -5 to 5, int64[7] 0 to 33)"
                 R"((float32[7, 33] -5 to 5, int64[7] 0 to 33, float32[33]{0.5, 0.5, ...}) {reduction = "none", ignore_index = 4} 2)"
                 "(float32[2, 5, 3, 19], int32[2, 3, 19] 0 to 5, float32[5]{0.5, 1.0, 2.0, 0.25, 1.5}) {label_smoothing = 0.1, "
                 "ignore_index = 2}"
                 R"((float32[7, 33], int64[7] 0 to 33) {label_smoothing = 0.2, reduction = "sum"})"
                 "(float64[7, 33] -5 to 5, int64[7] 0 to 33) {label_smoothing = 0.2} 2"
                 "(bfloat16[7, 33] -5 to 5, int64[7] 0 to 33)",
  };
}

}  // namespace svengine::ops
