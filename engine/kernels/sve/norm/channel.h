// The norms whose parameters belong to channels; see norm.h (the contract) for what they compute.
#pragma once
#include "engine/kernels/norm.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

int64_t group_norm_tasks(const GroupNormArgs& args) noexcept;
void group_norm_run(const GroupNormArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t group_norm_f64_tasks(const GroupNormArgsF64& args) noexcept;
void group_norm_f64_run(const GroupNormArgsF64& args, int64_t begin, int64_t end, void*) noexcept;
int64_t line_norm_tasks(const LineNormArgs& args) noexcept;  // norm/lines.cc
void line_norm_run(const LineNormArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t line_norm_f64_tasks(const LineNormArgsF64& args) noexcept;
void line_norm_f64_run(const LineNormArgsF64& args, int64_t begin, int64_t end, void*) noexcept;
int64_t channel_affine_tasks(const ChannelAffineArgs& args) noexcept;
void channel_affine_run(const ChannelAffineArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t channel_moments_tasks(const ChannelMomentsArgs& args) noexcept;
void channel_moments_run(const ChannelMomentsArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t local_response_tasks(const LocalResponseArgs& args) noexcept;
void local_response_run(const LocalResponseArgs& args, int64_t begin, int64_t end, void*) noexcept;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
