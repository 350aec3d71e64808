// A kernel as its family's table holds it: behind a check of its arguments where contracts are checked (contract.h).
#pragma once
#include "engine/kernels/contract.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

template <class Args>
using RunFunction = void (*)(const Args& args, int64_t begin, int64_t end, void* scratch) noexcept;

template <class Args, RunFunction<Args> kRun>
void run_checked(const Args& args, int64_t begin, int64_t end, void* scratch) noexcept {
  if (contract_checks && begin < end) enforce(violation(args));
  kRun(args, begin, end, scratch);
}

template <class Args, RunFunction<Args> kRun>
constexpr RunFunction<Args> checked() {
  return &run_checked<Args, kRun>;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
