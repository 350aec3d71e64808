// Moving what follows a node into the node.
#pragma once
#include "engine/graph/op_def.h"

namespace svengine {

/// `node` now computes what its only user `next` did: next's users take node's output, and next is gone.
void absorb(Graph& graph, Node& node, Node& next);

/// When the node's only user is an activation that kernels apply, and the node has none yet: turns it into `fused` with that
/// activation. True when it did.
bool absorb_activation(Graph& graph, Node& node, const OpDef& fused);

}  // namespace svengine
