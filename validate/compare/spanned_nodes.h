// Which nodes of the file a step's local error is made of.
//
//     file:     Relu ─ r ─ Transpose ─ LogSoftmax ─ Hardmax ─ h      engine:   [Relu] ─ r ─ [LogSoftmax] ─ [Hardmax] ─ [Transpose] ─ h
//
// A step is run on the reference's values. What it reads and the reference has not (here all between r and h, which are stored in another order)
// other steps have made of values that the reference has; so its error is that of all nodes from there on. And so it is where some of a fused
// step's nodes are computed by another step, too, because their results are read elsewhere.
#pragma once
#include <vector>

#include "validate/compare/compare_models.h"
#include "validate/compare/tested_graph.h"

namespace svengine::validate {

/// By step, in the file's order: those that it computes, and all others between the values of the reference that it begins with and what it gives.
/// No more than a few dozen of these, for they are looked at again for every step that reads the same.
std::vector<std::vector<const Node*>> spanned_nodes(const Graph& model, const TestedGraph& tested, const Reference& reference);

}  // namespace svengine::validate
