#include "python/options.h"

#include "engine/kernels/kernel_table.h"

namespace svengine::python {
namespace {

constexpr int kMostThreads = 4096;

}  // namespace

Result<SessionOptions> SessionArguments::resolve() const {
  SessionOptions out;
  out.flush_denormals = flush_denormals;
  out.exact_convolution = exact_convolution;
  out.optimize = optimize;
  out.cache = cache;
  out.seed = seed;
  if (threads && (*threads < 1 || *threads > kMostThreads)) return error("threads={}: 1 to {} are possible", *threads, kMostThreads);
  if (!topology.empty()) {
    SV_ASSIGN(out.topology, parse_topology(topology));
  } else {
    out.topology = detect_topology(threads.value_or(0));
  }
  if (kernels.empty()) return out;
  Result<const kernels::KernelTable*> set = kernels::select_kernel_set(kernels);
  if (!set.ok()) return std::move(set).error().in(fmt::format("kernels='{}'", kernels));
  out.kernels = *set;
  return out;
}

}  // namespace svengine::python
