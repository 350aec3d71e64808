// The row of reductions in this kernel set's table.
#include "engine/kernels/reduce.h"

#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/reduce/shape.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

int64_t reduce_tasks(const ReduceArgs& args) noexcept { return ReduceShape(args).partition().tasks(); }

void reduce_run(const ReduceArgs& args, int64_t begin, int64_t end, void*) noexcept {
  ReduceShape shape(args);
  const TaskPartition partition = shape.partition();
  (args.type == DType::f32 ? reduce_f32 : reduce_plain)(args, shape, partition.begin(begin), partition.begin(end));
}

}  // namespace

extern const ReduceKernels reduce_kernels;
const ReduceKernels reduce_kernels{{reduce_tasks, no_scratch, checked<ReduceArgs, reduce_run>()},
                                   {arg_reduce_tasks, no_scratch, checked<ArgReduceArgs, arg_reduce_run>()},
                                   {cumulative_sum_tasks, no_scratch, cumulative_sum_run},
                                   {top_k_tasks, top_k_scratch, checked<TopKArgs, top_k_run>()}};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
