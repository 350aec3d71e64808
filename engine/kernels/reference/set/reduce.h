// The parts of the reduction family, by items (tasks.h); reduce.cc holds its table.
#pragma once
#include "engine/kernels/reduce.h"

namespace svengine::kernels::reference {

int64_t arg_items(const ArgReduceArgs& args);
void arg_range(const ArgReduceArgs& args, int64_t begin, int64_t end, void*);

int64_t cumulative_items(const CumSumArgs& args);
void cumulative_range(const CumSumArgs& args, int64_t begin, int64_t end, void*);

int64_t top_k_items(const TopKArgs& args);
int64_t top_k_scratch_bytes(const TopKArgs& args) noexcept;
void top_k_range(const TopKArgs& args, int64_t begin, int64_t end, void* scratch);

}  // namespace svengine::kernels::reference
