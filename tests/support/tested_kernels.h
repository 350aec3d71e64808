// Which kernel sets a test covers.
#pragma once
#include "engine/kernels/kernel_table.h"

namespace svengine::kernels {

/// Every set, the reference among them. Under the emulator only those of the machine: the reference is the same C++ everywhere,
/// and would take most of an emulated test's time.
inline std::span<const KernelTable* const> tested_kernel_sets() {
#ifdef SVENGINE_EMULATED
  return available_kernel_sets();
#else
  return all_kernel_sets();
#endif
}

}  // namespace svengine::kernels
