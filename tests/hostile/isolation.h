// Cases that may end the process, each found by its number.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace svengine::tests {

struct Finding {
  int64_t index = 0;
  std::string what;  // of the case's own report, or how it ended and what it wrote to stderr
};

struct Limits {
  int cpu_seconds = 5;                      // of one case
  int64_t memory_bytes = int64_t{1} << 30;  // address space beyond what the process has at the start
  int most_findings = 8;                    // then the rest is left out
};

/// Calls run(i), which says what is wrong or nothing, for every i in [0, count), in child processes: one that ends early is a
/// finding, and another child goes on behind it.
std::vector<Finding> run_isolated(int64_t count, const Limits& limits, const std::function<std::string(int64_t)>& run);

}  // namespace svengine::tests
