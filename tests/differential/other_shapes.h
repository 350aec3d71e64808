// A session that gets inputs of other shapes between its runs.
//
// A session keeps plans, packed weights and memory of the shapes that it has seen, and the file declares none here. What comes of a run must
// not depend on what ran before: inputs of two further shapes alternate with the first ones, and every run is compared with the graph
// computed node by node; what that refuses is refused.
#pragma once
#include "tests/differential/check.h"

namespace svengine::differential {

/// What is wrong, one line for each finding; empty when nothing is. Takes the declared shapes of the graph's inputs away, or
/// declares names of sizes.
std::string check_other_shapes(RandomGraph& random, const CheckOptions& options, const Progress& progress);

}  // namespace svengine::differential
