// A kernel as a step.
#pragma once
#include <string>
#include <utility>

#include "engine/kernels/task_kernel.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// Emits one kernel call. `args` is complete but for its pointers, which `bind(args, run)` sets from the run's addresses.
template <class Args, class Bind>
void emit_kernel(LowerContext& c, std::string name, const kernels::TaskKernel<Args>& kernel, const Args& args, Bind bind) {
  c.emit(
      std::move(name), kernel.tasks(args),
      [args, bind, run_kernel = kernel.run](const Run& run, int64_t begin, int64_t end) -> const char* {
        Args bound = args;
        bind(bound, run);
        run_kernel(bound, begin, end, run.scratch<void>());
        return nullptr;
      },
      kernel.scratch_bytes(args));
}

}  // namespace svengine::ops
