// svengine.Values: the outputs are the inputs, one for one. What an operator of a file that stands for several expressions
// becomes.
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

Status infer_values(InferContext& c) {
  if (c.input_count() != c.output_count()) return error("{} inputs for {} outputs", c.input_count(), c.output_count());
  for (size_t i = 0; i < c.input_count(); ++i) {
    SV_TRY(require_dtype(c, i, kStoredTypes));
    c.set(i, c.type(i));
  }
  return {};
}

Status lower_values(LowerContext& c) {
  for (size_t i = 0; i < c.input_count(); ++i)
    emit_copies(c, "copy", size_of(c.in_type(i).dtype), {{c.in(i), c.out(i), flat_view(element_count(c.in_dims(i)))}});
  return {};
}

}  // namespace

OpDef define_values() {
  return {
      .name = "Values",
      .domain = kInternalDomain,
      .inputs = "values...",
      .outputs = {1, kVariadic},
      .infer = infer_values,
      .lower = lower_values,
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .samples = "(float32[3, 5], int64[7]) 2",
  };
}

}  // namespace svengine::ops
