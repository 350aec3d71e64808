#include "engine/kernels/kernel_table.h"

#include <array>
#include <vector>

#include "engine/kernels/processor.h"

namespace svengine::kernels {

// The list in cmake/SvengineKernels.cmake: SVENGINE_KERNEL_SET_ROW(set, whether this processor runs it), the best set first.
#define SVENGINE_KERNEL_SET_ROW(set, runs) \
  namespace set {                          \
  extern const KernelTable table;          \
  }
#include "kernel_sets.inc"
#undef SVENGINE_KERNEL_SET_ROW

namespace reference {
extern const KernelTable table;
}

namespace {

std::vector<const KernelTable*> detect() {
  std::vector<const KernelTable*> sets;
#define SVENGINE_KERNEL_SET_ROW(set, runs) \
  if (runs) sets.push_back(&set::table);
#include "kernel_sets.inc"
#undef SVENGINE_KERNEL_SET_ROW
  return sets;
}

}  // namespace

std::span<const KernelTable* const> all_kernel_sets() {
  static const std::vector<const KernelTable*> sets = [] {
    std::vector<const KernelTable*> all = detect();
    all.push_back(&reference::table);
    return all;
  }();
  return sets;
}

std::span<const KernelTable* const> available_kernel_sets() { return all_kernel_sets().first(all_kernel_sets().size() - 1); }

const KernelTable* find_kernel_set(std::string_view name) {
  for (const KernelTable* set : all_kernel_sets())
    if (name == set->name) return set;
  return nullptr;
}

}  // namespace svengine::kernels
