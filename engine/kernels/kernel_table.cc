#include "engine/kernels/kernel_table.h"

#include <array>
#include <vector>

#include "engine/kernels/processor.h"

namespace svengine::kernels {

#define SVENGINE_DECLARE_SET(set) \
  namespace set {                 \
  extern const KernelTable table; \
  }
#ifdef SVENGINE_HAVE_AVX512
SVENGINE_DECLARE_SET(avx512)
#endif
#ifdef SVENGINE_HAVE_AVX2
SVENGINE_DECLARE_SET(avx2)
#endif
#ifdef SVENGINE_HAVE_SVE512
SVENGINE_DECLARE_SET(sve512)
#endif
SVENGINE_DECLARE_SET(reference)

namespace {

std::vector<const KernelTable*> detect() {
  std::vector<const KernelTable*> sets;
#ifdef SVENGINE_HAVE_AVX512
  if (processor_has_avx512()) sets.push_back(&avx512::table);
#endif
#ifdef SVENGINE_HAVE_AVX2
  if (processor_has_avx2()) sets.push_back(&avx2::table);
#endif
#ifdef SVENGINE_HAVE_SVE512
  if (processor_sve_bits() == 512) sets.push_back(&sve512::table);
#endif
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
