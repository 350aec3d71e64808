// SoftmaxCrossEntropyLoss: the cross entropy of softmax(scores) over dimension 1 and labels, its mean weighted by the labels'
// weights. Optional output 1 is the log-softmax, which the gradient is made from.
#include "engine/kernels/softmax.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/loss/loss_common.h"
#include "engine/ops/samples.h"
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
  const Buffer log_p = c.has_output(1) ? c.out(1) : c.temporary(sizes.batch * sizes.classes * sizes.inner * static_cast<int64_t>(size_of(c.in_type(0).dtype)));
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
  const SampleInput labels = any(DType::i64, {7}, 0, 33), image_labels = any(DType::i32, {2, 3, 19}, 0, 5);
  return {
      .name = "SoftmaxCrossEntropyLoss",
      .since = 12,
      .inputs = {2, 3},
      .outputs = {1, 2},
      .attributes = loss_attributes(),
      .infer = infer_softmax_cross_entropy_loss,
      .lower = lower_softmax_cross_entropy_loss,
      .types = {{"T", kRealTypes, {0, 2}}, {"Tind", kIndexTypes, {1}}},
      .gradient = [](GradientContext& c) { return set_loss_gradient(c, c.output(1), true); },
      .samples = {{.inputs = {f32({7, 33}, -5, 5), labels}},
                  {.inputs = {f32({7, 33}, -5, 5), labels,
                              fixed(Tensor::of<float>({33}, std::span<const float>(std::vector<float>(33, 0.5f))))},
                   .attributes = {{"reduction", text("none")}, {"ignore_index", integer(4)}},
                   .outputs = 2},
                  {.inputs = {f32({2, 5, 3, 19}), image_labels, fixed(Tensor::of<float>({5}, {0.5f, 1.0f, 2.0f, 0.25f, 1.5f}))},
                   .attributes = {{"label_smoothing", real(0.1f)}, {"ignore_index", integer(2)}}},
                  {.inputs = {f32({7, 33}), labels},
                   .attributes = {{"label_smoothing", real(0.2f)}, {"reduction", text("sum")}}},
                  {.inputs = {any(DType::f64, {7, 33}, -5, 5), labels}, .attributes = {{"label_smoothing", real(0.2f)}}, .outputs = 2},
                  {.inputs = {any(DType::bf16, {7, 33}, -5, 5), labels}}},
  };
}

}  // namespace svengine::ops
