// Flatten: to a matrix; the dimensions before `axis` are its rows.
#include "engine/graph/gradient.h"
#include "engine/graph/axes.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

Status infer_flatten(InferContext& c) {
  const Shape& in = c.shape(0);
  if (!in.has_rank()) {
    c.set(0, c.dtype(0), unknown_dims(2));
    return {};
  }
  // The axis may be the rank itself: everything is rows then.
  int64_t axis = c.attributes().get_int("axis", 1);
  if (axis != in.rank()) {
    SV_ASSIGN(axis, normalise_axis(axis, in.rank()));
  }
  const size_t split = static_cast<size_t>(axis), rank = in.dims().size();
  c.set(0, c.dtype(0), Shape{product(in, 0, split), product(in, split, rank)});
  return {};
}

Status flatten_gradient(GradientContext& c) {
  c.set(0, c.reshape_to(c.dy(), c.input(0)));
  return {};
}

}  // namespace

OpDef define_flatten() {
  return {
      .name = "Flatten",
      .inputs = "input",
      .attributes = {{"axis", AttributeKind::kInt, false, 1}},
      .infer = infer_flatten,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}},
      .gradient = flatten_gradient,
      .traits = {.is_view = true},
      .samples = "(float32[2, 3, 5])"
                 "(float32[2, 3, 5]) {axis = -1}"
                 "(float32[2, 3, 5]) {axis = 3}"
                 "(float32[]) {axis = 0}",
  };
}

}  // namespace svengine::ops
