#include "engine/graph/losses.h"

namespace svengine {
namespace {

constexpr std::pair<std::string_view, Loss> kNames[] = {
    {"cross_entropy", Loss::cross_entropy}, {"nll", Loss::nll},
    {"mse", Loss::mse},                     {"l1", Loss::l1},
    {"smooth_l1", Loss::smooth_l1},         {"bce_with_logits", Loss::bce_with_logits},
};

Value* label_loss(Builder& b, Loss loss, Value* prediction, Value* labels, const LossOptions& options) {
  static constexpr const char* kReductions[] = {"mean", "sum", "none"};
  Attributes attributes = make_attributes({{"reduction", std::string(kReductions[static_cast<int>(options.reduction)])}});
  if (options.ignore_index) attributes.set("ignore_index", *options.ignore_index);
  if (options.label_smoothing != 0) attributes.set("label_smoothing", static_cast<float>(options.label_smoothing));
  std::vector<Value*> inputs{prediction, labels};
  if (options.class_weights) inputs.push_back(options.class_weights);
  return b.add(loss == Loss::nll ? "NegativeLogLikelihoodLoss" : "SoftmaxCrossEntropyLoss", std::move(inputs),
               std::move(attributes), "loss");
}

Value* number(Builder& b, double value) { return b.constant(Tensor::scalar(static_cast<float>(value))); }

Value* smooth_l1(Builder& b, Value* distance, double beta) {
  if (beta == 0) return distance;
  Value* near = b.add("Mul", {b.add("Mul", {distance, distance}), number(b, 0.5 / beta)});
  Value* far = b.add("Sub", {distance, number(b, 0.5 * beta)});
  return b.add("Where", {b.add("Less", {distance, number(b, beta)}), near, far});
}

/// softplus(-p) w t + softplus(p) (1 - t): each term finite for any p.
Value* bce_with_logits(Builder& b, Value* p, Value* t, Value* positive_weight) {
  Value* hits = positive_weight ? b.add("Mul", {t, positive_weight}) : t;
  Value* positive = b.add("Mul", {b.add("Softplus", {b.add("Neg", {p})}), hits});
  Value* negative = b.add("Mul", {b.add("Softplus", {p}), b.add("Sub", {number(b, 1), t})});
  return b.add("Add", {positive, negative});
}

Value* element_loss(Builder& b, Loss loss, Value* p, Value* t, const LossOptions& options) {
  if (loss == Loss::bce_with_logits) return bce_with_logits(b, p, t, options.positive_weight);
  Value* difference = b.add("Sub", {p, t});
  if (loss == Loss::mse) return b.add("Mul", {difference, difference});
  Value* distance = b.add("Abs", {difference});
  return loss == Loss::l1 ? distance : smooth_l1(b, distance, options.beta);
}

/// Broadcasting a target against a prediction would hide a mistake.
Status check_target(const Value* prediction, const Value* target) {
  const Shape &p = prediction->type.shape, &t = target->type.shape;
  bool fits = prediction->type.dtype == target->type.dtype && (!p.has_rank() || !t.has_rank() || p.rank() == t.rank());
  for (size_t i = 0; fits && p.has_rank() && t.has_rank() && i < p.dims().size(); ++i)
    fits = !p[i].is_static() || !t[i].is_static() || p[i].value() == t[i].value();
  if (fits) return {};
  return error("the loss of prediction '{}' {} needs a target of that type and shape; '{}' is {}", prediction->name(),
               to_string(prediction->type), target->name(), to_string(target->type));
}

}  // namespace

std::optional<Loss> loss_named(std::string_view name) {
  for (const auto& [known, loss] : kNames)
    if (name == known) return loss;
  return std::nullopt;
}

Value* add_loss(Builder& b, Loss loss, Value* prediction, Value* target, const LossOptions& options) {
  if (loss == Loss::cross_entropy || loss == Loss::nll) return label_loss(b, loss, prediction, target, options);
  b.note(check_target(prediction, target));
  if (!b.status().ok()) return nullptr;
  Value* each = element_loss(b, loss, prediction, target, options);
  if (options.reduction == Reduction::none) return each;
  return b.add(options.reduction == Reduction::mean ? "ReduceMean" : "ReduceSum", {each},
               make_attributes({{"keepdims", int64_t{0}}}), "loss");
}

}  // namespace svengine
