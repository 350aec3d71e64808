// The differences of two graphs, bodies or functions once their nodes are matched; match.h says how.
#pragma once
#include "validate/diff/diff.h"
#include "validate/diff/match.h"

namespace svengine::validate {

/// What all graphs of the two models are compared with.
struct DiffState {
  TensorReader& tensors_a;
  TensorReader& tensors_b;
  const DiffOptions& options;
  DiffReport& report;

  bool ignores(DiffClass kind) const;
  void add(DiffEntry difference);  // unless it is ignored
};

/// A graph as a message of its own: GraphProto, or what a FunctionProto has of it.
struct DiffSide {
  const onnx_proto::GraphProto* graph;  // null: a function
  DiffGraph numbers;
};

/// Texts that stand for values from around a body, the same for those that belong together.
using OuterNames = std::function<std::string(std::string_view)>;

/// `scope`: what differences say of where they are. Fails on tensors that cannot be read. Returns how many nodes were matched.
Result<int64_t> diff_graphs(const DiffSide& a, const DiffSide& b, const std::string& scope, const OuterNames& outer_a,
                            const OuterNames& outer_b, DiffState& state);

}  // namespace svengine::validate
