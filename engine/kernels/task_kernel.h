// The shape of a kernel that is cut into independent tasks.
#pragma once
#include <cstdint>

#include "engine/base/dtype_enum.h"

namespace svengine::kernels {

/// A kernel over one argument block. `tasks` cuts the work by shape alone; every task writes its own part of the output
/// and reads nothing that another task of the same call writes, so run(args, 0, n) equals any split of [0, n) over any
/// threads, bit by bit. Neighbouring tasks touch neighbouring memory: give every thread one contiguous range.
///
/// `tasks` and `scratch_bytes` depend on sizes and options alone: pointers may still be null (they matter to `run`
/// only). `scratch` belongs to one thread for the duration of one run, holds scratch_bytes(args) bytes (null when that
/// is 0) and is 256-byte aligned. Kernels are noexcept, allocate nothing, check nothing, keep no state.
template <class Args>
struct TaskKernel {
  int64_t (*tasks)(const Args& args) noexcept;
  int64_t (*scratch_bytes)(const Args& args) noexcept;
  void (*run)(const Args& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;
};

}  // namespace svengine::kernels
