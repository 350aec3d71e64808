// NonZero: the indices of all elements that are not zero, one column for each, in row-major order. How many there are depends
// on the values, so the input is known when the node is planned, and so is the result.
#include "engine/ops/infer_util.h"
#include "engine/ops/samples.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

std::vector<int64_t> places(const Tensor& t) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < t.count(); ++i)
    if (number_at(t.type(), t.raw(), i) != 0) out.push_back(i);
  return out;
}

Status infer_non_zero(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "input", kStoredTypes));
  const Dim rank = c.shape(0).has_rank() ? Dim(c.shape(0).rank()) : Dim();
  const Tensor* value = c.constant(0);
  c.set(0, DType::i64, Shape{rank, value ? Dim(static_cast<int64_t>(places(*value).size())) : Dim()});
  return {};
}

Status lower_non_zero(LowerContext& c) {
  if (!c.constant(0)) return error("the input is not known when the node is planned");
  const Dims dims = c.in_dims(0);
  const std::vector<int64_t> found = places(*c.constant(0)), strides = strides_of(dims);
  std::vector<int64_t> table;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    for (int64_t place : found) table.push_back(place / strides[axis] % dims[axis]);
  emit_known(c, table);
  return {};
}

}  // namespace

OpDef define_non_zero() {
  return {
      .name = "NonZero",
      .since = 9,
      .infer = infer_non_zero,
      .lower = lower_non_zero,
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .traits = {.shape_inputs = {0}},
      .samples = {{.inputs = {fixed(Tensor::of<float>({2, 3}, {0, 1, -2, 0, 0, 5}))}},
                  {.inputs = {fixed(Tensor::of<int64_t>({4}, {0, 0, 0, 0}))}}},
  };
}

}  // namespace svengine::ops
