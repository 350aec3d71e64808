// Losses: from a prediction and a target to one number, as nodes that autodiff then differentiates. Definitions are PyTorch's.
#pragma once
#include <optional>
#include <string_view>

#include "engine/graph/builder.h"

namespace svengine {

enum class Loss : int8_t {
  cross_entropy,    // scores [N, C, d...] and labels [N, d...]: SoftmaxCrossEntropyLoss
  nll,              // log-probabilities and labels: NegativeLogLikelihoodLoss
  mse,              // (p - t)^2
  l1,               // |p - t|
  smooth_l1,        // d = |p - t|:  d < beta ? d^2 / (2 beta) : d - beta / 2;  beta = 0 is l1
  bce_with_logits,  // log(1 + exp(-p)) w t + log(1 + exp(p)) (1 - t),  w the weight of positives
};

/// "cross_entropy", "nll", "mse", "l1", "smooth_l1", "bce_with_logits"; nothing for other names.
std::optional<Loss> loss_named(std::string_view name);

enum class Reduction : int8_t { mean, sum, none };

struct LossOptions {
  Reduction reduction = Reduction::mean;
  double beta = 1;                            // smooth_l1
  Value* positive_weight = nullptr;           // bce_with_logits: broadcasts to the prediction; null: 1
  Value* class_weights = nullptr;             // cross_entropy, nll: [C]; null: 1
  std::optional<int64_t> ignore_index = {};   // cross_entropy, nll
  double label_smoothing = 0;                 // cross_entropy, nll
};

/// The loss of a prediction; the target has the prediction's type and shape, or for the first two holds integer labels. Rank 0,
/// unless the reduction is none. Null after a failure, which the builder keeps.
Value* add_loss(Builder& builder, Loss loss, Value* prediction, Value* target, const LossOptions& options = {});

}  // namespace svengine
