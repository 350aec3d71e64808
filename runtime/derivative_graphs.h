// Graphs that compute what a network does and, beside its outputs, how they depend on its inputs.
//
//     vjp    inputs ..., gradients of the outputs ...   ──>   outputs ..., gradients of the inputs ...
//     jvp    inputs ..., tangents of the inputs ...     ──>   outputs ..., tangents of the outputs ...
//
// Both speak of the inputs and outputs that are floating point, in the network's order. The vector-Jacobian product u^T J is reverse-mode
// differentiation. It is linear in u, so differentiating <u^T J, v> once more, with respect to u, gives J v: the Jacobian-vector product by
// the rules that there are (J. Townsend's trick, 2017). Of the nodes that compute u^T J only those that are linear in a gradient are
// differentiated, so that their rules are the transposes of what they do.
#pragma once
#include "engine/graph/graph.h"

namespace svengine {

/// Of an imported graph, not yet optimised. Refuses, naming the node, an operator without a rule on the way.
Result<Graph> vjp_graph(const Graph& imported);
Result<Graph> jvp_graph(const Graph& imported);

}  // namespace svengine
