// ScatterND: a copy of the data in which the slices that the last dimension of indices addresses are replaced by updates; with
// a reduction the update is added, multiplied, or the larger or smaller is kept.
#include "engine/graph/gradient.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/scatter_common.h"

namespace svengine::ops {
namespace {

Status infer_scatter_nd(InferContext& c) {
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_rank_at_least(c, 0, 1));
  SV_TRY(require_rank_at_least(c, 1, 1));
  SV_TRY(check_scatter(c));
  const Shape &data = c.shape(0), &indices = c.shape(1), &updates = c.shape(2);
  c.set(0, c.dtype(0), data);
  if (!data.has_rank() || !indices.has_rank() || !indices.back().is_static()) return {};
  const int64_t depth = indices.back().value();
  if (depth < 1 || depth > data.rank())
    return error("the last dimension of the indices is {}, needs 1 to {}, the data's rank", depth, data.rank());
  SV_TRY(check_indices(c, 1, std::span<const Dim>(data.dims()).first(static_cast<size_t>(depth))));
  std::vector<Dim> wanted(indices.dims().begin(), indices.dims().end() - 1);
  wanted.insert(wanted.end(), data.dims().begin() + depth, data.dims().end());
  bool same = !updates.has_rank() || updates.dims().size() == wanted.size();
  for (size_t i = 0; same && updates.has_rank() && i < wanted.size(); ++i) same = !known_different(wanted[i], updates[i]);
  if (!same)
    return error("updates have shape {}, need {}", svengine::to_string(updates), svengine::to_string(Shape(std::move(wanted))));
  return {};
}

Status scatter_nd_gradient(GradientContext& c) {
  const std::string reduction = c.attributes().get_string("reduction", "none");
  if (reduction != "none" && reduction != "add")
    return error("the gradient of reduction {} is not known, only those of none and add", reduction);
  if (c.wants(0)) c.set(0, reduction == "add" ? c.dy() : c.op("ScatterND", {c.dy(), c.input(1), c.zeros_like(c.input(2))}));
  if (c.wants(2)) c.set(2, c.op("GatherND", {c.dy(), c.input(1)}));
  return {};
}

}  // namespace

OpDef define_scatter_nd() {
  return {
      .name = "ScatterND",
      .since = 11,
      .inputs = "data, indices, updates",
      .attributes = {{"reduction", AttributeKind::kString, false, "none"}},
      .infer = infer_scatter_nd,
      .lower = emit_scatter_nd,
      .check_values = [](LowerContext& c) { return emit_index_check(c, 1, indexed_dims(c)); },
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0, 2}}, {"indices", DTypeSet{DType::i64}, {1}}},
      .kernel_types_of = scatter_kernel_types,
      .gradient = scatter_nd_gradient,
      .traits = {.may_overwrite = true, .reads_others_late = true},
      .samples = "(float32[4, 5], int64[2, 1]{3, -4}, float32[2, 5])"
                 R"((float32[4, 5], int64[3, 2]{0, 1, 3, 4, 0, 1}, float32[3]) {reduction = "add"})"
                 "(int64[6], int64[2, 1]{1, 5}, int64[2])",
  };
}

}  // namespace svengine::ops
