// Which node of a model first makes NaN or infinity.
#pragma once
#include <string>
#include <vector>

#include "runtime/session.h"
#include "validate/compare/element.h"

namespace svengine::validate {

/// Names and types are printable.
struct CheckedValue {
  std::string name, type;
  Statistics statistics;
  bool constant = false;

  bool finite() const { return statistics.nans + statistics.infinities == 0; }
};

struct NotFinite {
  std::string node, op;
  CheckedValue value;
  std::vector<CheckedValue> inputs;  // those that are numbers, constants too
  bool from_finite = false;          // all of these are finite: it begins here
};

struct FiniteReport {
  size_t checked = 0;                // values of real numbers that nodes made
  size_t not_finite = 0;             // of these
  std::vector<CheckedValue> inputs;  // of the network, those that are not finite
  std::vector<NotFinite> first;      // the first of them, in the order of the run, no more than kMostFindings
  static constexpr size_t kMostFindings = 20;
  bool passed() const { return not_finite == 0 && inputs.empty(); }
};

/// Runs every node by itself, as it stands in the file (a body is part of its node), and looks at all that it makes. Values live
/// as long as something reads them. Fails where a node cannot be run.
Result<FiniteReport> find_not_finite(Graph graph, const std::vector<Tensor>& inputs, const SessionOptions& options);

}  // namespace svengine::validate
