// Cutting a graph where a plan cannot go on. Internal to the session.
//
//     planned   output shapes concrete, inputs known, values that lowering reads constants      -> prefix, one plan
//     host      nodes that run on the host (runs_on_host) whose inputs are there by then         -> evaluated one after the other
//     the others                                                                                  -> rest, cut again when its turn comes
//
// Every value that is there before the rest is in a table, which all parts speak of: inputs of the segment first, then results of the
// prefix, then those of the host's nodes.
#pragma once
#include <vector>

#include "engine/graph/graph.h"

namespace svengine {

/// Where an output of the segment comes from.
struct OutputSource {
  enum class Kind : int8_t { table, rest, constant };
  Kind kind = Kind::table;
  size_t index = 0;  // in the table, or of the rest's outputs
  Tensor constant = {};
};

struct SplitGraph {
  Graph prefix;  // all shapes concrete, no handles
  std::vector<size_t> prefix_inputs;  // places in the table
  Graph host;
  std::vector<size_t> host_inputs;
  Graph rest;
  std::vector<size_t> rest_inputs;
  std::vector<bool> rest_needs_value;  // which of them decide shapes
  std::vector<OutputSource> outputs;
};

/// May all of it be one plan? Every shape is known then, nothing runs on the host, and no input or output is a handle.
bool is_plannable(const Graph& graph);

/// `input_places`: of the graph's inputs in the table, in which results come after the first `input_count` places. `share_inputs`: an
/// output that is an input or a constant is that very tensor, not a copy. Fails when no progress is possible, naming the node in the way.
Result<SplitGraph> split_graph(const Graph& graph, const std::vector<size_t>& input_places, size_t input_count, bool share_inputs);

/// What is planned first of a graph that is not plannable.
Result<Graph> plannable_prefix(const Graph& graph);

}  // namespace svengine
