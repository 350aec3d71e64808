#include "python/options.h"

#include "engine/kernels/kernel_table.h"

namespace svengine::python {
namespace {

constexpr int kMostThreads = 4096;

std::string kernel_set_names() {
  std::string out;
  for (const kernels::KernelTable* set : kernels::all_kernel_sets()) out += (out.empty() ? "'" : ", '") + std::string(set->name) + "'";
  return out;
}

}  // namespace

Result<SessionOptions> SessionArguments::resolve() const {
  SessionOptions out;
  out.flush_denormals = flush_denormals;
  out.exact_convolution = exact_convolution;
  out.optimize = optimize;
  out.cache = cache;
  if (threads && (*threads < 1 || *threads > kMostThreads)) return error("threads={}: 1 to {} are possible", *threads, kMostThreads);
  if (!topology.empty()) {
    SV_ASSIGN(out.topology, parse_topology(topology));
  } else {
    out.topology = detect_topology(threads.value_or(0));
  }
  if (kernels.empty()) return out;
  out.kernels = kernels::find_kernel_set(kernels);
  if (!out.kernels) return error("kernels='{}': this build on this processor has {}", kernels, kernel_set_names());
  return out;
}

}  // namespace svengine::python
