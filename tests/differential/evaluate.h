// Graphs computed node by node, every node alone, with all values kept: what optimised runs are compared with. Bodies are computed node by
// node too.
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
/// What is done within a node, either of them perhaps nothing.
struct Changes {
  /// With the results of each node that it is made of, or that is in one of its bodies; the node's inputs are constants.
  std::function<void(const Node& part, std::vector<Tensor>& results)> results = {};
  /// With each constant of a body.
  std::function<void(const Value& constant, Tensor& value)> constants = {};
};

/// One node from the values of its inputs (undefined: absent). Refuses what the operator refuses, and results above
/// `most_elements`, which would make a test slow.
Result<std::vector<Tensor>> compute(const Node& node, const std::vector<Tensor>& inputs, const kernels::KernelTable& kernels,
                                    int64_t most_elements = kMostComputed, const Changes& change = {});

/// The values of a node's inputs, all constants; undefined: absent.
std::vector<Tensor> constants_of(const Node& node);

/// Whether it is this test that refuses, not the operator: results and costs above its limits, and shapes that only a run tells.
bool is_limit_of_test(const Error& error);

/// The graph's constants, and its inputs as `known` has them.
Values leaf_values(const Graph& graph, const Values& known);

/// Whether some node has bodies.
bool has_bodies(const Graph& graph);

/// Types of all results, by inputs and constants alone; what bodies capture is of the types that it has around them, as the importer
/// declares it.
Status infer_anew(Graph& graph);

/// Adds the values of all nodes that have none yet; inputs' and constants' must be there. An error names the node.
Status compute_all(const Graph& graph, Values& values, const kernels::KernelTable& kernels);

}  // namespace svengine::differential
