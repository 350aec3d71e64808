// Checks the rules every graph obeys, after every pass in tests on this machine (PassContext::verify).
#pragma once
#include "engine/graph/graph.h"

namespace svengine {

/// Every value has one source and correct users; nodes come after what they read; outputs exist; inferred types agree with
/// the stored ones; blocked values have a rank that can be, and go only where they are read so. An error here is a defect of the
/// engine, never of a file.
Status verify(const Graph& graph);

}  // namespace svengine
