// Results that nobody reads, but perhaps their shape, or a body that does not run: they need not be computed, and then nobody says what is
// wrong with them.
#pragma once
#include "engine/graph/graph.h"

namespace svengine::differential {

/// Makes outputs of such results; in bodies, whose outputs are the operator's business, it takes them away. False where a body needs the shape of
/// one: it has to stay.
bool use_all_nodes(Graph& graph);
/// Whether there are none.
bool reads_all_nodes(const Graph& graph);

}  // namespace svengine::differential
