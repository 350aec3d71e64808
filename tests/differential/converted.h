// A random graph as another model: what `svengine convert` writes of it, read again.
//
//   the graph ──┬───────────────────────────┬── export at the newest opset, or an older one ── check ── import ── session: the same outputs
//               ├── simplified              │
//               └── float32 become another ─┘
//
// In float16 and bfloat16 it has to run; in double it gives the same.
// What the file says of itself must be valid, and declare no shape that does not follow from its nodes. A graph may be refused for what it has:
// operators that only the engine has, or an opset has not.
#pragma once
#include "engine/graph/passes/pass.h"
#include "tests/differential/check.h"

namespace svengine::differential {

/// Makes the graph one of nodes that the opset has, as far as there are such; the rest is for the export to refuse.
Status make_of_opset(Graph& graph, int opset, const PassContext& context);

/// What is wrong, one line for each finding; empty when nothing is.
std::string check_converted(const RandomGraph& random, const CheckOptions& options, const Progress& progress);

}  // namespace svengine::differential
