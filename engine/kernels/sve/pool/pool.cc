// Pooling: tasks and the table of the family.
#include "engine/kernels/pool.h"

#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/pool/op.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

int64_t planes(bool blocked, int64_t batch, int64_t channels) {
  return batch * (blocked ? window::ceil_div(channels, kLanes) : channels);
}

int64_t window_tasks(const PoolArgs& args) noexcept {
  const PoolShape& s = args.shape;
  return s.out.width == 0 ? 0 : planes(args.blocked, s.batch, s.channels) * s.out.depth * s.out.height;
}

int64_t window_scratch(const PoolArgs& args) noexcept {
  return args.blocked ? 0 : pool::line_floats(args) * static_cast<int64_t>(sizeof(float));
}

void run_window(const PoolArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept {
  if (args.blocked)
    pool::run_blocked(args, task_begin, task_end);
  else if (args.indices)
    pool::run_plain_indexed(args, task_begin, task_end);
  else if (pool::line_floats(args) > 0)
    pool::run_by_lines(args, task_begin, task_end, static_cast<float*>(scratch));
  else
    pool::run_plain(args, task_begin, task_end);
}

int64_t global_tasks(const GlobalPoolArgs& args) noexcept { return planes(args.blocked, args.batch, args.channels); }

int64_t global_scratch(const GlobalPoolArgs&) noexcept { return 0; }

void run_global(const GlobalPoolArgs& args, int64_t task_begin, int64_t task_end, void*) noexcept {
  (args.blocked ? pool::run_global_blocked : pool::run_global_plain)(args, task_begin, task_end);
}

}  // namespace

extern const PoolKernels pool_kernels;
const PoolKernels pool_kernels{{window_tasks, window_scratch, checked<PoolArgs, run_window>()},
                               {global_tasks, global_scratch, checked<GlobalPoolArgs, run_global>()}};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
