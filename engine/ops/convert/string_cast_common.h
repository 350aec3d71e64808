// Numbers as texts, and back.
#pragma once
#include "engine/graph/evaluate_context.h"

namespace svengine::ops {

/// Cast of a node whose input or output (output 0's type) is strings. Numbers are read as C writes them, and INF, +INF, -INF and NaN in any case;
/// what is no number is an error. Integers are truncated from reals. Reals are written with the fewest digits that give them back, always
/// recognisable as reals: "1.0". Booleans are written "1" and "0", as ONNX Runtime does: models look these up among their categories.
Status cast_strings(EvaluateContext& c);

}  // namespace svengine::ops
