// One node, run at once on the host, in the calling thread: evaluated where it works on handles, else by its own lowering.
#pragma once
#include <vector>

#include "engine/graph/graph.h"

namespace svengine::ops {

/// The outputs of a node of `node`'s operator and attributes on these inputs, undefined where one is absent; their types need not
/// be those of `node`'s inputs. All inputs count as known, so shapes may follow from values. Inputs are aligned.
Result<std::vector<Tensor>> run_node(const Node& node, const std::vector<Tensor>& inputs);

}  // namespace svengine::ops
