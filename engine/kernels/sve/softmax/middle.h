// Softmax along a middle axis: vectors lie along the inner dimension, every lane is a line of its own.
#pragma once
#include "engine/kernels/softmax.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// A task is one chunk of kSoftmaxColumns inner positions of one outer index.
inline constexpr int kSoftmaxVectors = 4;
inline constexpr int64_t kSoftmaxColumns = kSoftmaxVectors * kLanes;

int64_t softmax_middle_tasks(const SoftmaxArgs& args) noexcept;

template <bool kLog>
void softmax_middle(const SoftmaxArgs& args, int64_t begin, int64_t end) noexcept;

void hardmax(const SoftmaxArgs& args, int64_t begin, int64_t end, void* scratch) noexcept;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
