// From an imported model to a graph of nodes that are written as C one by one.
#pragma once
#include <vector>

#include "engine/graph/passes/pass.h"

namespace svengine::tool::emit {

/// With inputs of these dimensions: all shapes concrete, constants folded, batch norms in convolutions, activations in products. A shape that
/// depends on values is an error that names the node.
Result<Graph> prepare(Graph model, const std::vector<Dims>& dims, const PassContext& context);

}  // namespace svengine::tool::emit
