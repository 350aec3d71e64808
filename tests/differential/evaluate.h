// Graphs computed node by node, every node alone, with all values kept: what optimised runs are compared with.
//
// How far two right computations of a graph may lie apart depends on the graph: a difference of nearly equal numbers, or a long
// chain, enlarges rounding errors; a Floor makes 1 of them. So the graph is computed several times with every real value
// disturbed by the error its operator is allowed: OpDef::tolerance, and beside the operand what its kernel is tested with
// (activation.inc). What moves the result that far is no finding.
#pragma once
#include <functional>
#include <unordered_map>
#include <vector>

#include "engine/base/random.h"
#include "engine/graph/op_def.h"
#include "engine/kernels/kernel_table.h"

namespace svengine::differential {

using Values = std::unordered_map<const Value*, Tensor>;

constexpr int64_t kMostComputed = int64_t{1} << 22;
/// Called with the results of each node that a composite one is made of, whose inputs are constants.
using ChangeResults = std::function<void(const Node& part, std::vector<Tensor>& results)>;

/// One node from the values of its inputs (undefined: absent). Refuses what the operator refuses, and results above
/// `most_elements`, which would make a test slow.
Result<std::vector<Tensor>> compute(const Node& node, const std::vector<Tensor>& inputs, const kernels::KernelTable& kernels,
                                    int64_t most_elements = kMostComputed, const ChangeResults& change = {});

/// Whether it is this test that refuses, not the operator: results and costs above its limits, and shapes that only a run tells.
bool is_limit_of_test(const Error& error);

/// The graph's constants, and its inputs as `known` has them.
Values leaf_values(const Graph& graph, const Values& known);

/// Types of all results, by inputs and constants alone.
Status infer_anew(Graph& graph);

/// Adds the values of all nodes that have none yet; inputs' and constants' must be there. An error names the node.
Status compute_all(const Graph& graph, Values& values, const kernels::KernelTable& kernels);

/// The values of a graph, all disturbed: `run` numbers the disturbance. What cannot be computed from disturbed values is left
/// out. `loose`: convolutions have errors relative to their largest result (Winograd's).
Values compute_disturbed(const Graph& graph, const Values& leaves, const kernels::KernelTable& kernels, uint64_t run, bool loose);

}  // namespace svengine::differential
