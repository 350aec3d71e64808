// A way to run a random graph.
#pragma once
#include <string>

#include "runtime/session.h"
#include "tests/differential/graph_maker.h"

namespace svengine::differential {

constexpr int kSomeThreads = 3;  // whose shares of most steps are unequal

struct Way {
  const kernels::KernelTable* kernels;
  bool optimize = true;
  int threads = 1;
  Recompute recompute = Recompute::none;

  std::string name() const;
};

/// A session of a copy of the graph.
Result<std::unique_ptr<Session>> session_for(const RandomGraph& random, const Way& way);
/// The same of what another graph has become; `loose`: RandomGraph's.
Result<std::unique_ptr<Session>> session_for(Graph graph, const Way& way, bool loose);

}  // namespace svengine::differential
