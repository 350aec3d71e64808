// Cross entropy on the kernels of kernels/cross_entropy.h: SoftmaxCrossEntropyLoss, NegativeLogLikelihoodLoss and their gradient.
#pragma once
#include <vector>

#include "engine/graph/gradient.h"
#include "engine/kernels/cross_entropy.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// reduction, ignore_index, and label_smoothing: the engine's own, as PyTorch's cross_entropy has it.
std::vector<AttributeDef> loss_attributes();

/// Checks scores [N, C, d...], labels [N, d...] and optional weights [C], given at three consecutive inputs, and the attributes.
Status check_loss(const InferContext& c, size_t scores);
/// The loss: a number, or with reduction "none" one for every label.
Shape loss_shape(const InferContext& c, size_t labels);

/// What the kernels need to know, from the node's attributes and the types of its scores and labels.
kernels::CrossEntropyArgs cross_entropy_args(const LowerContext& c, size_t scores);

/// A step that stops the run at a label outside [0, classes) which is not the one to ignore.
void emit_label_check(LowerContext& c, const kernels::CrossEntropyArgs& args, Buffer labels);

/// The kernel; `loss` and `weight` [batch * inner] may be absent.
void emit_cross_entropy(LowerContext& c, const kernels::CrossEntropyArgs& args, Buffer log_p, Buffer labels, Buffer weights,
                        Buffer loss, Buffer weight);

/// out = sum of `count` floats.
void emit_total(LowerContext& c, Buffer from, int64_t count, Buffer out);

/// Labels, their check, the kernel and the reduction, from log-probabilities to output 0; labels are input `scores` + 1.
Status lower_loss(LowerContext& c, size_t scores, Buffer log_p);

/// The gradient of input 0, which came from log-probabilities, or with `of_scores` from what these are the log-softmax of.
Status set_loss_gradient(GradientContext& c, Value* log_p, bool of_scores);

}  // namespace svengine::ops
