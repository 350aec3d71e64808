// Size: the number of elements of the input, an int64 scalar.
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

Status infer_size(InferContext& c) {
  c.set(0, DType::i64, Shape(std::vector<Dim>{}));
  return {};
}

Tensor element_count_of_input(const Node& node) {
  return Tensor::scalar<int64_t>(element_count(*node.input(0)->type.shape.concrete()));
}

Status lower_size(LowerContext& c) {
  emit_known(c, std::vector<int64_t>{element_count(c.in_dims(0))});
  return {};
}

}  // namespace

OpDef define_size() {
  return {
      .name = "Size",
      .inputs = "data",
      .infer = infer_size,
      .lower = lower_size,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .traits = {.value_of_types = element_count_of_input},
      .samples = "(float32[3, 7])"
                 "(float32[])"
                 "(float32[4, 0, 2])",
  };
}

}  // namespace svengine::ops
