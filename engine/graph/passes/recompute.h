// The two kinds of recomputation: pass `recompute` does what PassContext::recompute asks for.
#pragma once
#include "engine/graph/graph.h"

namespace svengine {

/// Values that a pass or two over memory give from what is kept anyway: recompute_cheap.cc.
void recompute_cheap(Graph& graph);

/// Whole segments of the network: recompute_segments.cc.
void recompute_segments(Graph& graph);

}  // namespace svengine
