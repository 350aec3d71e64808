#include "engine/kernels/kernel_table.h"

#include <fmt/ranges.h>

#include <deque>
#include <vector>

#include "engine/kernels/openblas/openblas.h"
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

Result<const KernelTable*> select_kernel_set(std::string_view name) {
  constexpr std::string_view kOpenBlas = "openblas", kWith = "+openblas";
  if (name == kOpenBlas) return with_openblas(*all_kernel_sets().front());
  const bool products = name.ends_with(kWith);
  const std::string_view base = name.substr(0, name.size() - (products ? kWith.size() : 0));
  std::vector<std::string_view> names;
  for (const KernelTable* set : all_kernel_sets()) {
    if (base == set->name) return products ? with_openblas(*set) : set;
    names.push_back(set->name);
  }
  return error("there is no kernel set '{}' for this processor here, but {}; each also with +openblas", name, fmt::join(names, ", "));
}

const KernelTable* find_kernel_set(std::string_view name) {
  const Result<const KernelTable*> set = select_kernel_set(name);
  return set.ok() ? *set : nullptr;
}

}  // namespace svengine::kernels
