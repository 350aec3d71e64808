// A session's profile as tables: where the time goes.
#pragma once
#include <string>
#include <vector>

#include "runtime/session.h"

namespace svengine::tool {

/// Steps added up, by node or by operator.
struct ProfileEntry {
  std::string op, node, kernel;  // kernel: of the costliest step
  int64_t count = 0;             // nodes
  double ms = 0;                 // a run
  double share = 0;              // of all steps
  double gflops = 0;             // 10^9 floating-point operations a second
};

/// Costliest first. `runs`: how many runs the rows are sums of.
std::vector<ProfileEntry> profile_by_node(const std::vector<ProfileRow>& rows, int64_t runs);
std::vector<ProfileEntry> profile_by_operator(const std::vector<ProfileRow>& rows, int64_t runs);

/// What a plan holds where it holds most: the largest `top` values and temporaries.
std::string memory_text(const Plan& plan, size_t top);

/// The first `top` of each, human-readable.
std::string profile_text(const std::vector<ProfileRow>& rows, int64_t runs, size_t top);

}  // namespace svengine::tool
