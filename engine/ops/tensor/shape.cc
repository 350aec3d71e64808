// Shape: the dimensions of the input from `start` to `end` as an int64 vector.
#include <algorithm>

#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

struct Window {
  int64_t begin, end;
};

/// Both ends count from the back when negative, and are clamped to the rank.
Window window_of(const Attributes& attributes, int64_t rank) {
  const auto clamped = [rank](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t begin = clamped(attributes.get_int("start", 0));
  const int64_t end = attributes.has("end") ? clamped(attributes.get_int("end")) : rank;
  return {begin, std::max(begin, end)};
}

Status infer_shape(InferContext& c) {
  if (!c.shape(0).has_rank()) {
    c.set(0, DType::i64, Shape{Dim()});
    return {};
  }
  const Window w = window_of(c.attributes(), c.shape(0).rank());
  c.set(0, DType::i64, Shape{Dim(w.end - w.begin)});
  return {};
}

Tensor dims_of_input(const Node& node) {
  const Dims dims = *node.input(0)->type.shape.concrete();
  const Window w = window_of(node.attributes, static_cast<int64_t>(dims.size()));
  return Tensor::of<int64_t>({w.end - w.begin},
                             std::span<const int64_t>(dims).subspan(static_cast<size_t>(w.begin), static_cast<size_t>(w.end - w.begin)));
}

Status lower_shape(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  const Window w = window_of(c.attributes(), static_cast<int64_t>(dims.size()));
  emit_known(c, Dims(dims.begin() + w.begin, dims.begin() + w.end));
  return {};
}

}  // namespace

OpDef define_shape() {
  return {
      .name = "Shape",
      .inputs = "data",
      .attributes = {{"start", AttributeKind::kInt, false, 0}, {"end", AttributeKind::kInt}},
      .infer = infer_shape,
      .lower = lower_shape,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .traits = {.value_of_types = dims_of_input},
      .samples = "(float32[2, 3, 5])"
                 "(float32[2, 3, 5]) {start = -2}"
                 "(float32[2, 3, 5]) {start = 1, end = -1}",
  };
}

}  // namespace svengine::ops
