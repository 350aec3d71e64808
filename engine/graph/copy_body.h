// The nodes of a body (an attribute that is a graph) as nodes of the graph around it.
#pragma once
#include <vector>

#include "engine/graph/graph.h"

namespace svengine {

/// Copies the body's nodes in front of `before`; `inputs` are what its inputs become, captured ones included. Gives the values of its
/// outputs. Types are those in the body: what is known of `inputs` says more, once types are inferred again.
std::vector<Value*> copy_body(const Graph& body, const std::vector<Value*>& inputs, Graph& graph, Node* before,
                              std::vector<Node*>* copies = nullptr);

}  // namespace svengine
