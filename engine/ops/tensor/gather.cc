// Gather: slices of the data along `axis`, chosen by indices of any rank; negative indices count from the end.
#include "engine/graph/gradient.h"
#include "engine/graph/axes.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/index_common.h"

namespace svengine::ops {
namespace {

Status infer_gather(InferContext& c) {
  SV_TRY(require_dtype(c, 1, kIndexTypes));
  SV_TRY(require_rank_at_least(c, 0, 1));
  const Shape &data = c.shape(0), &indices = c.shape(1);
  if (!data.has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), data.rank()));
  SV_TRY(check_indices(c, 1, {&data[static_cast<size_t>(axis)], 1}));
  if (!indices.has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  const auto at = data.dims().begin() + axis;
  std::vector<Dim> out(data.dims().begin(), at);
  out.insert(out.end(), indices.dims().begin(), indices.dims().end());
  out.insert(out.end(), at + 1, data.dims().end());
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

Status lower_gather(LowerContext& c) {
  const Dims data = c.in_dims(0);
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(data.size())));
  const std::span<const int64_t> dims(data);
  const auto a = static_cast<size_t>(axis);
  SV_TRY(emit_axis_index_check(c));
  emit_gather(c, {.outer = element_count(dims.first(a)),
                  .size = data[a],
                  .inner = element_count(dims.subspan(a + 1)),
                  .indices = element_count(c.in_dims(1))},
              c.in(1), c.in_type(1).dtype == DType::i64);
  return {};
}

Cost gather_cost(const Node& node) { return {0, 2 * stored_bytes(node.output()->type) + stored_bytes(node.input(1)->type)}; }

Status gather_gradient(GradientContext& c) {
  c.set(0,
        c.internal("GatherGrad", {c.dy(), c.input(1), c.input(0)}, make_attributes({{"axis", c.attributes().get_int("axis")}})));
  return {};
}

}  // namespace

OpDef define_gather() {
  return {
      .name = "Gather",
      .inputs = "data, indices",
      .attributes = {{"axis", AttributeKind::kInt, false, 0}},
      .infer = infer_gather,
      .lower = lower_gather,
      .check_values = emit_axis_index_check,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"Tind", kIndexTypes, {1}}},
      .kernel_types = kDenseTypes,
      .cost = gather_cost,
      .gradient = gather_gradient,
      .traits = {.moves_elements = always},
      .samples = "(float32[13, 33], int64[2, 3] -13 to 13)"
                 "(float32[3, 5, 2], int64[4] 0 to 5) {axis = 1}"
                 "(float32[2, 7], int32[] 0 to 7) {axis = -1}"
                 "(int64[6], int64[2]{1, -1})",
  };
}

}  // namespace svengine::ops
