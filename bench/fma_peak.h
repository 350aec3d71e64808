// The most multiply-adds one core can do with a kernel set's vectors: what benchmarks are a share of.
#pragma once
#include <string_view>

namespace svengine::bench {

/// Floating-point operations a second of this core at this moment (it takes about a millisecond): a loop of independent
/// multiply-adds on registers alone. Clock frequencies change with load, so measure right before and after what is
/// compared.
double fma_peak(std::string_view kernel_set);

}  // namespace svengine::bench
