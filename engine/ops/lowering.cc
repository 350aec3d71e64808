#include "engine/ops/lowering.h"

namespace svengine {

const Tensor* LowerContext::constant(size_t i) const {
  const Value* v = node_->input(i);
  return v && v->is_constant() ? &v->constant() : nullptr;
}

}  // namespace svengine
