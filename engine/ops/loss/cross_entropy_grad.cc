// svengine.CrossEntropyGrad: the gradient of SoftmaxCrossEntropyLoss (of_scores = 1) or NegativeLogLikelihoodLoss. Inputs: dy,
// the log-probabilities, and the loss's labels and (optional) class weights; the attributes are the loss's.
#include "engine/kernels/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/loss/loss_common.h"

namespace svengine::ops {
namespace {

Status infer_cross_entropy_grad(InferContext& c) {
  SV_TRY(check_loss(c, 1));
  const Shape &dy = c.shape(0), &labels = c.shape(2);
  if (c.attributes().get_string("reduction", "mean") != "none") {
    SV_TRY(require_single(c, 0));
  } else if (dy.has_rank() && labels.has_rank()) {
    bool fits = dy.rank() == labels.rank();
    for (size_t i = 0; fits && i < dy.dims().size(); ++i) fits = !known_different(dy[i], labels[i]);
    if (!fits) return error("dy is {}, needs the shape {} of the labels", to_string(dy), to_string(labels));
  }
  c.set(0, c.type(1));
  return {};
}

/// dy divided by the sum of the labels' weights, as the mean was.
Buffer emit_share(LowerContext& c, const kernels::CrossEntropyArgs& args, Buffer weights) {
  const int64_t count = args.batch * args.inner;
  const Buffer weight = c.temporary(count * 4), total = c.temporary(4), share = c.temporary(4);
  emit_cross_entropy(c, args, c.in(1), c.in(2), weights, {}, weight);
  emit_total(c, weight, count, total);
  c.emit("loss_share", 1, [=, dy = c.in(0)](const Run& run, int64_t, int64_t) -> const char* {
    *run.get<float>(share) = *run.get<const float>(dy) / *run.get<const float>(total);
    return nullptr;
  });
  return share;
}

Status lower_cross_entropy_grad(LowerContext& c) {
  const std::string reduction = c.attributes().get_string("reduction", "mean");
  kernels::CrossEntropyGradArgs args;
  args.forward = cross_entropy_args(c, 1);
  args.k_each = reduction == "none";
  args.of_scores = c.attributes().get_int("of_scores", 1) != 0;
  const Buffer weights = c.has_input(3) ? c.in(3) : Buffer{};
  emit_label_check(c, args.forward, c.in(2));
  const Buffer k = reduction == "mean" ? emit_share(c, args.forward, weights) : c.in(0);
  emit_kernel(c, "cross_entropy_grad", c.kernels().gradient->cross_entropy_grad, args,
              [=, log_p = c.in(1), labels = c.in(2), dx = c.out()](kernels::CrossEntropyGradArgs& a, const Run& run) {
                a.forward.log_p = run.get<const float>(log_p);
                a.forward.labels = run.get<const void>(labels);
                a.forward.class_weights = run.get<const float>(weights);
                a.k = run.get<const float>(k);
                a.dx = run.get<float>(dx);
              });
  return {};
}

std::vector<AttributeDef> cross_entropy_grad_attributes() {
  std::vector<AttributeDef> all = loss_attributes();
  all.push_back({"of_scores", AttributeKind::kInt, false, 1});
  return all;
}

}  // namespace

OpDef define_cross_entropy_grad() {
  return {
      .name = "CrossEntropyGrad",
      .domain = kInternalDomain,
      .inputs = "dy, log_prob, labels, weights?",
      .attributes = cross_entropy_grad_attributes(),
      .infer = infer_cross_entropy_grad,
      .lower = lower_cross_entropy_grad,
      .types = {{"T", kSingleTypes, {0, 1, 3}}, {"Tind", kIndexTypes, {2}}},
      .samples = "(float32[], float32[7, 33] -5 to 0, int64[7] 0 to 33)"
                 R"((float32[2, 3, 19], float32[2, 5, 3, 19] -5 to 0, int32[2, 3, 19] 0 to 5) {reduction = "none", of_scores = 0})",
  };
}

}  // namespace svengine::ops
