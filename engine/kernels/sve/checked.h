// A kernel as its family's table holds it: itself, or in builds that check contracts (contract.h) behind a check of its
// arguments.
#pragma once
#include "engine/kernels/contract.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr bool kCheckContracts = SVENGINE_CHECK_CONTRACTS != 0;

template <class Args>
using RunFunction = void (*)(const Args& args, int64_t begin, int64_t end, void* scratch) noexcept;

template <class Args, RunFunction<Args> kRun>
void run_checked(const Args& args, int64_t begin, int64_t end, void* scratch) noexcept {
  if (begin < end) enforce(violation(args));
  kRun(args, begin, end, scratch);
}

template <class Args, RunFunction<Args> kRun>
constexpr RunFunction<Args> checked() {
  if constexpr (kCheckContracts)
    return &run_checked<Args, kRun>;
  else
    return kRun;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
