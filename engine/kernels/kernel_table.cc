#include "engine/kernels/kernel_table.h"

#include <deque>
#include <vector>

#include "engine/kernels/processor.h"

namespace svengine::kernels {

// The lists in cmake/SvengineKernels.cmake: SVENGINE_KERNEL_SET_ROW(set, whether this processor runs it), the best set first, and
// SVENGINE_QUANTIZED_ROW(set, variant, whether this processor runs it).
#define SVENGINE_KERNEL_SET_ROW(set, runs) \
  namespace set {                          \
  extern const KernelTable table;          \
  }
#define SVENGINE_QUANTIZED_ROW(set, variant, runs) \
  namespace variant {                              \
  extern const QuantizedKernels quantized_kernels; \
  }
#include "kernel_sets.inc"
#undef SVENGINE_KERNEL_SET_ROW
#undef SVENGINE_QUANTIZED_ROW

namespace reference {
extern const KernelTable table;
}

namespace {

struct Sets {
  std::deque<KernelTable> tables;  // as compiled, but for families of which there is a better variant
  std::vector<const KernelTable*> all;
  std::vector<QuantizedVariant> quantized;
};

/// Every set that this processor runs.
void add_sets(Sets& sets) {
  const auto add = [&](const KernelTable& table) {
    sets.tables.push_back(table);
    sets.quantized.push_back({table.name, table.quantized});
  };
#define SVENGINE_KERNEL_SET_ROW(set, runs) \
  if (runs) add(set::table);
#define SVENGINE_QUANTIZED_ROW(set, variant, runs)
#include "kernel_sets.inc"
#undef SVENGINE_KERNEL_SET_ROW
#undef SVENGINE_QUANTIZED_ROW
  add(reference::table);
}

void add_variants([[maybe_unused]] Sets& sets) {
  [[maybe_unused]] const auto improve = [&](std::string_view set, const char* name, const QuantizedKernels& kernels) {
    for (KernelTable& table : sets.tables)
      if (table.name == set) table.quantized = &kernels, sets.quantized.push_back({name, &kernels});
  };
#define SVENGINE_KERNEL_SET_ROW(set, runs)
#define SVENGINE_QUANTIZED_ROW(set, variant, runs) \
  if (runs) improve(#set, #variant, variant::quantized_kernels);
#include "kernel_sets.inc"
#undef SVENGINE_KERNEL_SET_ROW
#undef SVENGINE_QUANTIZED_ROW
}

const Sets& sets() {
  static const Sets found = [] {
    Sets x;
    add_sets(x);
    add_variants(x);
    for (const KernelTable& table : x.tables) x.all.push_back(&table);
    return x;
  }();
  return found;
}

}  // namespace

std::span<const KernelTable* const> all_kernel_sets() { return sets().all; }

std::span<const QuantizedVariant> quantized_variants() { return sets().quantized; }

std::span<const KernelTable* const> available_kernel_sets() { return all_kernel_sets().first(all_kernel_sets().size() - 1); }

const KernelTable* find_kernel_set(std::string_view name) {
  for (const KernelTable* set : all_kernel_sets())
    if (name == set->name) return set;
  return nullptr;
}

}  // namespace svengine::kernels
