// Checks the rules every graph obeys, after every pass in dev builds and in tests.
#pragma once
#include "engine/graph/graph.h"

namespace svengine {

/// Every value has one source and correct users; nodes come after what they read; outputs exist; inferred types agree with
/// the stored ones; blocked values are rank 4. An error here is a defect of the engine, never of a file.
Status verify(const Graph& graph);

}  // namespace svengine
