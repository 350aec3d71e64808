// A graph without what can be known beforehand: constants folded, branches decided, nodes that change nothing gone.
#pragma once
#include "engine/graph/graph.h"
#include "engine/graph/passes/pass.h"

namespace svengine::validate {

struct SimplifyReport {
  size_t nodes_before = 0, nodes_after = 0;
  int64_t bytes_before = 0, bytes_after = 0;  // of constants
};

/// Passes of the engine after which every node is still one of ONNX. What would be folded into a constant of more than `growth_bytes`, larger
/// than what it came from (a Tile or ConstantOfShape), stays as it is; constants that have grown by more than that in all are an error.
Result<SimplifyReport> simplify(Graph& graph, PassContext context, int64_t growth_bytes = int64_t{1} << 20);

}  // namespace svengine::validate
