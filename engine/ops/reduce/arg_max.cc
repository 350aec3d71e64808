// ArgMax: where the largest element along an axis is; the first of several, or the last.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_arg_max() {
  return arg_reduction("ArgMax", [](LowerContext& c) { return emit_arg_reduce(c, true); });
}

}  // namespace svengine::ops
