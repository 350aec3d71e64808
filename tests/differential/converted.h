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
#include "tests/differential/check.h"

namespace svengine::differential {

/// What is wrong, one line for each finding; empty when nothing is.
std::string check_converted(const RandomGraph& random, const CheckOptions& options, const Progress& progress);

}  // namespace svengine::differential
