// ArgMin: where the smallest element along an axis is; the first of several, or the last.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_arg_min() {
  return arg_reduction("ArgMin", [](LowerContext& c) { return emit_arg_reduce(c, false); });
}

}  // namespace svengine::ops
