// The table of backward kernels.
#include "engine/kernels/gradient.h"

#include "engine/kernels/sve/gradient/kernels.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

extern const GradientKernels gradient_kernels;
const GradientKernels gradient_kernels{
    .activation = {activation_grad_tasks, no_scratch, activation_grad_run},
    .gather = {gather_grad_tasks, no_scratch, gather_grad_run},
    .unfold = {unfold_tasks, no_scratch, unfold_run},
    .fold = {fold_tasks, no_scratch, fold_run},
    .conv_weights = {conv_weight_sums_bytes,
                     {conv_weight_sums_tasks, conv_weight_sums_scratch, conv_weight_sums_run},
                     {conv_weight_finish_tasks, no_scratch, conv_weight_finish_run}},
    .pool = {pool_grad_tasks, no_scratch, pool_grad_run},
    .row_norm = {row_norm_grad_tasks, no_scratch, row_norm_grad_run},
    .channel_sums = {channel_grad_sums_tasks, no_scratch, channel_grad_sums_run},
    .channel = {channel_grad_tasks, no_scratch, channel_grad_run},
    .softmax = {softmax_grad_tasks, no_scratch, softmax_grad_run},
    .cross_entropy = {cross_entropy_tasks, no_scratch, cross_entropy_run},
    .cross_entropy_grad = {cross_entropy_grad_tasks, no_scratch, cross_entropy_grad_run},
    .optimizer = {optimizer_tasks, no_scratch, optimizer_run},
    .layerwise_norms = {layerwise_tasks, no_scratch, layerwise_norms_run},
    .layerwise_step = {layerwise_tasks, no_scratch, layerwise_step_run},
};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
