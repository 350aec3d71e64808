// Children that compute, so that one graph that crashes or hangs ends a child and not the test.
#pragma once
#include <optional>
#include <string>

#include "tests/differential/check.h"
#include "tests/differential/reduce_graph.h"

namespace svengine::differential {

/// What a child found in one graph.
struct Outcome {
  bool failed = false;
  std::string text;  // findings, or how the child ended and what it was doing
  size_t nodes = 0;  // of the graph; 0 when it was not finished
  size_t outputs = 0;
  std::string graph;  // its text, when asked for
};

struct BatchResult {
  uint64_t next = 0;      // the first seed not tried
  uint64_t computed = 0;  // graphs that were checked; the others had a node that was refused at the last step
  bool failed = false;    // seed next - 1 failed
  std::string text;       // findings, or how the child ended and what it was doing
};

/// What is done with a graph: check.h, damage.h, other_shapes.h, converted.h, written.h.
enum class Check { whole, damaged, other_shapes, converted, written };

struct WorkerOptions {
  std::vector<const kernels::KernelTable*> kernels;
  int seconds = 30;  // that one graph may take
  Check check = Check::whole;
  std::string folder;  // of Check::written
};

/// Checks the graphs of seeds first .. end-1 in a child, until one fails. `until`: a time of CLOCK_MONOTONIC, in seconds.
BatchResult run_batch(const WorkerOptions& options, uint64_t first, uint64_t end, double until);

/// Checks one graph, or a part of it, in a child of its own.
Outcome run_one(const WorkerOptions& options, uint64_t seed, const Part* part, bool with_text);

double monotonic_seconds();

}  // namespace svengine::differential
