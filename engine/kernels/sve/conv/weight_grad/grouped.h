// Weight gradients of depthwise and grouped layers whose groups lie within a channel block: grouped.cc.
#pragma once
#include "engine/kernels/conv_grad.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

int64_t grouped_weight_sums_bytes(const ConvWeightGradArgs& args);
int64_t grouped_weight_sums_tasks(const ConvWeightGradArgs& args);
void grouped_weight_sums(const ConvWeightGradArgs& args, int64_t begin, int64_t end);
int64_t grouped_weight_finish_tasks(const ConvWeightGradArgs& args);
void grouped_weight_finish(const ConvWeightGradArgs& args, int64_t begin, int64_t end);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
