// ScatterElements: a copy of the data in which out[indices[i][j]][j] = updates[i][j] for axis 0, and likewise for others;
// with a reduction the update is added, multiplied, or the larger or smaller is kept.
#include "engine/graph/gradient.h"
#include "engine/graph/axes.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/scatter_common.h"

namespace svengine::ops {
namespace {

Status infer_scatter_elements(InferContext& c) {
  SV_TRY(require_dtype(c, 1, kIndexTypes));
  SV_TRY(require_rank_at_least(c, 0, 1));
  SV_TRY(check_scatter(c));
  const Shape &data = c.shape(0), &indices = c.shape(1), &updates = c.shape(2);
  if (indices.has_rank() && updates.has_rank()) {
    bool same = indices.rank() == updates.rank();
    for (size_t i = 0; same && i < indices.dims().size(); ++i) same = !known_different(indices[i], updates[i]);
    if (!same)
      return error("indices have shape {} and updates {}, need one shape", svengine::to_string(indices), svengine::to_string(updates));
  }
  if (data.has_rank() && indices.has_rank()) {
    SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), data.rank()));
    SV_TRY(check_elementwise_indices(c, static_cast<size_t>(axis)));
  }
  c.set(0, c.dtype(0), data);
  return {};
}

Status lower_scatter_elements(LowerContext& c) {
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(c.in_dims(0).size())));
  return emit_scatter_elements(c, static_cast<size_t>(axis));
}

Status scatter_elements_gradient(GradientContext& c) {
  const std::string reduction = c.attributes().get_string("reduction", "none");
  if (reduction != "none" && reduction != "add")
    return error("the gradient of reduction {} is not known, only those of none and add", reduction);
  Attributes axis = make_attributes({{"axis", c.attributes().get_int("axis")}});
  if (c.wants(0))
    c.set(0, reduction == "add" ? c.dy() : c.op("ScatterElements", {c.dy(), c.input(1), c.zeros_like(c.input(2))}, axis));
  if (c.wants(2)) c.set(2, c.op("GatherElements", {c.dy(), c.input(1)}, axis));
  return {};
}

}  // namespace

OpDef define_scatter_elements() {
  return {
      .name = "ScatterElements",
      .since = 11,
      .inputs = "data, indices, updates",
      .attributes = {{"axis", AttributeKind::kInt, false, 0}, {"reduction", AttributeKind::kString, false, "none"}},
      .infer = infer_scatter_elements,
      .lower = lower_scatter_elements,
      .check_values = emit_axis_index_check,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0, 2}}, {"Tind", kIndexTypes, {1}}},
      .kernel_types_of = scatter_kernel_types,
      .gradient = scatter_elements_gradient,
      .traits = {.may_overwrite = true, .reads_others_late = true},
      .samples = "(float32[3, 5], int64[2, 3]{1, 0, 2, 0, -1, 1}, float32[2, 3])"
                 R"((float32[1, 5], int64[1, 3]{1, 1, -1}, float32[1, 3]) {axis = 1, reduction = "add"})"
                 "(int64[6], int64[2]{5, 0}, int64[2])",
  };
}

}  // namespace svengine::ops
