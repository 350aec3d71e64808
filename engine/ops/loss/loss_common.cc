#include "engine/ops/loss/loss_common.h"

#include "engine/kernels/gradient.h"
#include "engine/kernels/reduce.h"
#include "engine/kernels/reduce_prepare.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

std::string loss_reduction(const Attributes& attributes) { return attributes.get_string("reduction", "mean"); }

void emit_reduce_step(LowerContext& c, const kernels::ReduceArgs& args, Buffer from, Buffer to) {
  emit_kernel(c, "loss_sum", c.kernels().reduce->reduce, args, [from, to](kernels::ReduceArgs& a, const Run& run) {
    a.x = run.get<void>(from);
    a.y = run.get<void>(to);
  });
}

}  // namespace

std::vector<AttributeDef> loss_attributes() {
  return {{"reduction", AttributeKind::kString, false, "mean"},
          {"ignore_index", AttributeKind::kInt},
          {"label_smoothing", AttributeKind::kFloat, false, 0.0f}};
}

Status check_loss(const InferContext& c, size_t scores) {
  const std::string reduction = loss_reduction(c.attributes());
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return error("reduction is '{}', needs mean, sum or none", reduction);
  const float smoothing = c.attributes().get_float("label_smoothing");
  if (!(smoothing >= 0 && smoothing <= 1)) return error("label_smoothing is {}, needs 0 to 1", smoothing);
  SV_TRY(require_rank(c, scores + 2, 1));
  const Shape &x = c.shape(scores), &labels = c.shape(scores + 1);
  if (!x.has_rank() || !labels.has_rank()) return {};
  if (x.rank() < 2) return error("scores {} are of rank {}, need 2 or more: N, C, ...", to_string(x), x.rank());
  bool fit = labels.rank() == x.rank() - 1;
  for (size_t i = 0; fit && i < labels.dims().size(); ++i) fit = !known_different(labels[i], x[i == 0 ? 0 : i + 1]);
  if (!fit)
    return error("labels {} do not fit scores {}: one label for each, without dimension 1", to_string(labels), to_string(x));
  if (c.has_input(scores + 2) && c.shape(scores + 2).has_rank() && known_different(c.shape(scores + 2)[0], x[1]))
    return error("{} weights for {} classes", c.shape(scores + 2)[0].value(), x[1].value());
  return {};
}

Shape loss_shape(const InferContext& c, size_t labels) {
  return loss_reduction(c.attributes()) == "none" ? c.shape(labels) : Shape(std::vector<Dim>{});
}

kernels::CrossEntropyArgs cross_entropy_args(const LowerContext& c, size_t scores) {
  const Dims x = c.in_dims(scores);
  kernels::CrossEntropyArgs args;
  args.batch = x[0];
  args.classes = x[1];
  args.inner = element_count(std::span<const int64_t>(x).subspan(2));
  args.label_bytes = static_cast<int32_t>(size_of(c.in_type(scores + 1).dtype));
  args.has_ignore = c.attributes().has("ignore_index");
  args.ignore = c.attributes().get_int("ignore_index");
  args.smoothing = c.attributes().get_float("label_smoothing");
  return args;
}

void emit_label_check(LowerContext& c, const kernels::CrossEntropyArgs& args, Buffer labels) {
  const int64_t count = args.batch * args.inner;
  c.emit("loss_labels", 1, [=](const Run& run, int64_t, int64_t) -> const char* {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t label = args.label_bytes == 8 ? run.get<const int64_t>(labels)[i] : run.get<const int32_t>(labels)[i];
      if (!(args.has_ignore && label == args.ignore) && (label < 0 || label >= args.classes))
        return "a label is outside [0, number of classes), and is not ignore_index";
    }
    return nullptr;
  });
}

void emit_cross_entropy(LowerContext& c, const kernels::CrossEntropyArgs& args, Buffer log_p, Buffer labels, Buffer weights,
                        Buffer loss, Buffer weight) {
  emit_kernel(c, "cross_entropy", c.kernels().gradient->cross_entropy, args, [=](kernels::CrossEntropyArgs& a, const Run& run) {
    a.log_p = run.get<const float>(log_p);
    a.labels = run.get<const void>(labels);
    a.class_weights = run.get<const float>(weights);
    a.loss = run.get<float>(loss);
    a.weight = run.get<float>(weight);
  });
}

void emit_total(LowerContext& c, Buffer from, int64_t count, Buffer out) {
  kernels::ReduceArgs args;
  args.rank = 1;
  args.extent[0] = count;
  args.reduced[0] = true;
  if (const auto split = kernels::split_reduce(args)) {
    const Buffer partials = c.temporary(split->partials * 4);
    emit_reduce_step(c, split->first, from, partials);
    return emit_reduce_step(c, split->second, partials, out);
  }
  emit_reduce_step(c, args, from, out);
}

Status lower_loss(LowerContext& c, size_t scores, Buffer log_p) {
  const kernels::CrossEntropyArgs args = cross_entropy_args(c, scores);
  const int64_t count = args.batch * args.inner;
  const Buffer labels = c.in(scores + 1), weights = c.has_input(scores + 2) ? c.in(scores + 2) : Buffer{};
  const std::string reduction = loss_reduction(c.attributes());
  emit_label_check(c, args, labels);
  if (wide::is_wide(c)) {
    wide::emit_loss(c, log_p);
    return {};
  }
  if (reduction == "none") {
    emit_cross_entropy(c, args, log_p, labels, weights, c.out(), {});
    return {};
  }
  const Buffer loss = c.temporary(count * 4), weight = reduction == "mean" ? c.temporary(count * 4) : Buffer{};
  emit_cross_entropy(c, args, log_p, labels, weights, loss, weight);
  emit_total(c, loss, count, c.out());
  if (reduction == "sum") return {};
  const Buffer total = c.temporary(4);
  emit_total(c, weight, count, total);
  c.emit("loss_mean", 1, [out = c.out(), total](const Run& run, int64_t, int64_t) -> const char* {
    *run.get<float>(out) /= *run.get<const float>(total);
    return nullptr;
  });
  return {};
}

Status set_loss_gradient(GradientContext& c, Value* log_p, bool of_scores) {
  if (c.wants(2)) return error("class weights have no gradient; they are constants of the loss");
  if (c.output_gradient(1)) return error("output 1 (log_prob) is used; only the loss has a gradient");
  Attributes attributes = c.attributes();
  attributes.set("of_scores", int64_t{of_scores});
  c.set(0, c.internal("CrossEntropyGrad", {c.dy(), log_p, c.input(1), c.input(2)}, std::move(attributes)));
  return {};
}

}  // namespace svengine::ops
