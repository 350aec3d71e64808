// What the files of the family define for its table.
#pragma once
#include "engine/kernels/elementwise.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {

int64_t where_tasks(const WhereArgs& args) noexcept;
void where_run(const WhereArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t cast_tasks(const CastArgs& args) noexcept;
void cast_run(const CastArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t range_tasks(const RangeArgs& args) noexcept;
void range_run(const RangeArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t uniform_tasks(const UniformArgs& args) noexcept;
void uniform_run(const UniformArgs& args, int64_t begin, int64_t end, void*) noexcept;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
