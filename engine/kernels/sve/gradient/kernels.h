// The entry points of the backward kernels, for the table in gradient.cc.
#pragma once
#include "engine/kernels/gradient.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

int64_t activation_grad_tasks(const ActivationGradArgs& args) noexcept;
void activation_grad_run(const ActivationGradArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t gather_grad_tasks(const GatherGradArgs& args) noexcept;
void gather_grad_run(const GatherGradArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t unfold_tasks(const UnfoldArgs& args) noexcept;
void unfold_run(const UnfoldArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t fold_tasks(const FoldArgs& args) noexcept;
void fold_run(const FoldArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t conv_weight_sums_bytes(const ConvWeightGradArgs& args) noexcept;
int64_t conv_weight_sums_tasks(const ConvWeightGradArgs& args) noexcept;
int64_t conv_weight_sums_scratch(const ConvWeightGradArgs& args) noexcept;
void conv_weight_sums_run(const ConvWeightGradArgs& args, int64_t begin, int64_t end, void* scratch) noexcept;
int64_t conv_weight_finish_tasks(const ConvWeightGradArgs& args) noexcept;
void conv_weight_finish_run(const ConvWeightGradArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t pool_grad_tasks(const PoolGradArgs& args) noexcept;
void pool_grad_run(const PoolGradArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t row_norm_grad_tasks(const RowNormGradArgs& args) noexcept;
void row_norm_grad_run(const RowNormGradArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t channel_grad_sums_tasks(const ChannelGradSumsArgs& args) noexcept;
void channel_grad_sums_run(const ChannelGradSumsArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t channel_grad_tasks(const ChannelGradArgs& args) noexcept;
void channel_grad_run(const ChannelGradArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t softmax_grad_tasks(const SoftmaxGradArgs& args) noexcept;
void softmax_grad_run(const SoftmaxGradArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t cross_entropy_tasks(const CrossEntropyArgs& args) noexcept;
void cross_entropy_run(const CrossEntropyArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t cross_entropy_grad_tasks(const CrossEntropyGradArgs& args) noexcept;
void cross_entropy_grad_run(const CrossEntropyGradArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t optimizer_tasks(const OptimizerArgs& args) noexcept;
void optimizer_run(const OptimizerArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t layerwise_tasks(const LayerwiseArgs& args) noexcept;
void layerwise_norms_run(const LayerwiseArgs& args, int64_t begin, int64_t end, void*) noexcept;
void layerwise_step_run(const LayerwiseArgs& args, int64_t begin, int64_t end, void*) noexcept;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
