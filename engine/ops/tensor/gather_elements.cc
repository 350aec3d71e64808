// GatherElements: out[i][j][k] = data[indices[i][j][k]][j][k] for axis 0, and likewise for others.
#include "engine/graph/gradient.h"
#include "engine/graph/axes.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/index_common.h"

namespace svengine::ops {
namespace {

Status infer_gather_elements(InferContext& c) {
  SV_TRY(require_dtype(c, 1, kIndexTypes));
  SV_TRY(require_rank_at_least(c, 0, 1));
  const Shape &data = c.shape(0), &indices = c.shape(1);
  if (data.has_rank() && indices.has_rank()) {
    SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), data.rank()));
    SV_TRY(check_elementwise_indices(c, static_cast<size_t>(axis)));
  }
  c.set(0, c.dtype(0), indices);
  return {};
}

Status lower_gather_elements(LowerContext& c) {
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(c.in_dims(0).size())));
  return emit_gather_elements(c, static_cast<size_t>(axis));
}

Status gather_elements_gradient(GradientContext& c) {
  Attributes attributes = make_attributes({{"axis", c.attributes().get_int("axis")}, {"reduction", std::string("add")}});
  c.set(0, c.op("ScatterElements", {c.zeros_like(c.input(0)), c.input(1), c.dy()}, std::move(attributes)));
  return {};
}

}  // namespace

OpDef define_gather_elements() {
  return {
      .name = "GatherElements",
      .since = 11,
      .inputs = "data, indices",
      .attributes = {{"axis", AttributeKind::kInt, false, 0}},
      .infer = infer_gather_elements,
      .lower = lower_gather_elements,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"Tind", kIndexTypes, {1}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = gather_elements_gradient,
      .traits = {.moves_elements = always},
      .samples = "(float32[5, 7], int64[3, 7] -5 to 5)"
                 "(float32[3, 4, 5], int32[2, 4, 9] 0 to 5) {axis = -1}",
  };
}

}  // namespace svengine::ops
