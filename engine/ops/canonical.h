// From the form a file's opset has for a node to the canonical one.
#pragma once
#include "engine/graph/op_def.h"

namespace svengine::ops {

/// What all opsets from 7 on write alike, where 1 to 6 wrote it otherwise, and then OpDef::canonicalize. The inputs' types are set.
Status to_canonical_form(CanonicalizeContext& c);

}  // namespace svengine::ops
