// The parts of the gradient family, by items (tasks.h); gradient.cc holds its table.
#pragma once
#include "engine/kernels/gradient.h"

namespace svengine::kernels::reference {

// gradient_window.cc
int64_t unfold_items(const UnfoldArgs& args);
void unfold_range(const UnfoldArgs& args, int64_t begin, int64_t end, void*);
int64_t fold_items(const FoldArgs& args);
int64_t fold_scratch_bytes(const FoldArgs& args) noexcept;
void fold_range(const FoldArgs& args, int64_t begin, int64_t end, void* scratch);
int64_t pool_grad_items(const PoolGradArgs& args);
int64_t pool_grad_scratch_bytes(const PoolGradArgs& args) noexcept;
void pool_grad_range(const PoolGradArgs& args, int64_t begin, int64_t end, void* scratch);

// gradient_conv.cc
int64_t weight_sums_bytes(const ConvWeightGradArgs& args) noexcept;
int64_t weight_sum_items(const ConvWeightGradArgs& args);
void weight_sum_range(const ConvWeightGradArgs& args, int64_t begin, int64_t end, void*);
int64_t weight_finish_items(const ConvWeightGradArgs& args);
void weight_finish_range(const ConvWeightGradArgs& args, int64_t begin, int64_t end, void*);

// gradient_norm.cc
int64_t row_norm_grad_tasks(const RowNormGradArgs& args) noexcept;
int64_t row_norm_grad_scratch_bytes(const RowNormGradArgs& args) noexcept;
void row_norm_grad_run(const RowNormGradArgs& args, int64_t begin, int64_t end, void* scratch) noexcept;
int64_t channel_sum_items(const ChannelGradSumsArgs& args);
void channel_sum_range(const ChannelGradSumsArgs& args, int64_t begin, int64_t end, void*);
int64_t channel_grad_items(const ChannelGradArgs& args);
void channel_grad_range(const ChannelGradArgs& args, int64_t begin, int64_t end, void*);

// gradient_loss.cc
int64_t cross_entropy_items(const CrossEntropyArgs& args);
void cross_entropy_range(const CrossEntropyArgs& args, int64_t begin, int64_t end, void*);
int64_t cross_entropy_grad_items(const CrossEntropyGradArgs& args);
void cross_entropy_grad_range(const CrossEntropyGradArgs& args, int64_t begin, int64_t end, void*);

// gradient_optimizer.cc
int64_t optimizer_items(const OptimizerArgs& args);
void optimizer_range(const OptimizerArgs& args, int64_t begin, int64_t end, void*);
int64_t layerwise_tasks(const LayerwiseArgs& args) noexcept;
void layerwise_norms(const LayerwiseArgs& args, int64_t begin, int64_t end, void*) noexcept;
void layerwise_step(const LayerwiseArgs& args, int64_t begin, int64_t end, void*) noexcept;

}  // namespace svengine::kernels::reference
