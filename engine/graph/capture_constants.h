// Constants of a graph that its bodies hold too: what is trained must be one value everywhere.
#pragma once
#include "engine/graph/graph.h"

namespace svengine {

/// The importer gives a body constants of its own where it reads one of the graph around it, with the same storage. Those of floating point
/// become captured values again: the node reads the graph's constant, which may then become an input that is trained
/// (constants_to_inputs), and gets the gradient of what the body computes with it. Sessions undo it where it stays a constant.
void capture_shared_constants(Graph& graph);

}  // namespace svengine
