// The table of backward kernels.
#include "engine/kernels/gradient.h"

#include "engine/kernels/contract_gradient.h"
#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/gradient/kernels.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

void conv_weight_finish_checked(const ConvWeightGradArgs& args, int64_t begin, int64_t end, void* scratch) noexcept {
  if (contract_checks && begin < end) enforce(finish_violation(args));
  conv_weight_finish_run(args, begin, end, scratch);
}

void layerwise_norms_checked(const LayerwiseArgs& args, int64_t begin, int64_t end, void* scratch) noexcept {
  if (contract_checks && begin < end) enforce(norms_violation(args));
  layerwise_norms_run(args, begin, end, scratch);
}

}  // namespace

extern const GradientKernels gradient_kernels;
const GradientKernels gradient_kernels{
    .activation = {activation_grad_tasks, no_scratch, checked<ActivationGradArgs, activation_grad_run>()},
    .gather = {gather_grad_tasks, no_scratch, checked<GatherGradArgs, gather_grad_run>()},
    .unfold = {unfold_tasks, no_scratch, checked<UnfoldArgs, unfold_run>()},
    .fold = {fold_tasks, no_scratch, checked<FoldArgs, fold_run>()},
    .conv_weights = {conv_weight_sums_bytes,
                     {conv_weight_sums_tasks, conv_weight_sums_scratch, checked<ConvWeightGradArgs, conv_weight_sums_run>()},
                     {conv_weight_finish_tasks, no_scratch, conv_weight_finish_checked}},
    .pool = {pool_grad_tasks, no_scratch, checked<PoolGradArgs, pool_grad_run>()},
    .row_norm = {row_norm_grad_tasks, no_scratch, checked<RowNormGradArgs, row_norm_grad_run>()},
    .channel_sums = {channel_grad_sums_tasks, no_scratch, checked<ChannelGradSumsArgs, channel_grad_sums_run>()},
    .channel = {channel_grad_tasks, no_scratch, checked<ChannelGradArgs, channel_grad_run>()},
    .softmax = {softmax_grad_tasks, no_scratch, checked<SoftmaxGradArgs, softmax_grad_run>()},
    .cross_entropy = {cross_entropy_tasks, no_scratch, checked<CrossEntropyArgs, cross_entropy_run>()},
    .cross_entropy_grad = {cross_entropy_grad_tasks, no_scratch, checked<CrossEntropyGradArgs, cross_entropy_grad_run>()},
    .optimizer = {optimizer_tasks, no_scratch, checked<OptimizerArgs, optimizer_run>()},
    .layerwise_norms = {layerwise_tasks, no_scratch, layerwise_norms_checked},
    .layerwise_step = {layerwise_tasks, no_scratch, checked<LayerwiseArgs, layerwise_step_run>()},
};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
