// Softmax of doubles, for the family's table.
#pragma once
#include "engine/kernels/softmax.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

int64_t softmax_f64_tasks(const SoftmaxArgsF64& args) noexcept;

template <bool kLog>
void softmax_f64(const SoftmaxArgsF64& args, int64_t begin, int64_t end, void* scratch) noexcept;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
