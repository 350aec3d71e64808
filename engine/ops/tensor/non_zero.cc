// NonZero: the indices of all elements that are not zero, one column for each, in row-major order. How many there are depends
// on the values, so it runs between plans.
#include "engine/graph/evaluate_context.h"
#include "engine/ops/evaluate_strings.h"
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
  SV_TRY(require_dtype(c, 0, "input", kStoredTypes | DTypeSet{DType::string}));
  const Dim rank = c.shape(0).has_rank() ? Dim(c.shape(0).rank()) : Dim();
  const Tensor* value = c.constant(0);
  const bool known = value && value->type() != DType::string;
  c.set(0, DType::i64, Shape{rank, known ? Dim(static_cast<int64_t>(places(*value).size())) : Dim()});
  return {};
}

Status evaluate_non_zero(EvaluateContext& c) {
  if (c.input(0).type() == DType::string) return evaluate_strings(c);
  const Dims& dims = c.input(0).dims();
  const std::vector<int64_t> found = places(c.input(0)), strides = strides_of(dims);
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::i64, {static_cast<int64_t>(dims.size()), static_cast<int64_t>(found.size())}));
  auto to = out.data<int64_t>().begin();
  for (size_t axis = 0; axis < dims.size(); ++axis)
    for (int64_t place : found) *to++ = place / strides[axis] % dims[axis];
  c.set(0, std::move(out));
  return {};
}

}  // namespace

OpDef define_non_zero() {
  return {
      .name = "NonZero",
      .since = 9,
      .infer = infer_non_zero,
      .evaluate = evaluate_non_zero,
      .types = {{"T", kAllTypes, {0}}},
      .cost = movement_cost,
      .samples = {{.inputs = {any(DType::i32, {5, 7}, -2, 3)}},
                  {.inputs = {fixed(Tensor::of<float>({2, 3}, {0, 1, -2, 0, 0, 5}))}},
                  {.inputs = {fixed(Tensor::of<int64_t>({4}, {0, 0, 0, 0}))}}},
  };
}

}  // namespace svengine::ops
