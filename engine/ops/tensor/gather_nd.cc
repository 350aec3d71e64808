// GatherND: the last dimension of indices addresses a slice of the data; the first batch_dims dimensions go together.
#include "engine/graph/gradient.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/index_common.h"

namespace svengine::ops {
namespace {

Status infer_gather_nd(InferContext& c) {
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_rank_at_least(c, 0, 1));
  SV_TRY(require_rank_at_least(c, 1, 1));
  const Shape &data = c.shape(0), &indices = c.shape(1);
  const int64_t batch = c.attributes().get_int("batch_dims");
  if (!data.has_rank() || !indices.has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  if (batch < 0 || batch >= data.rank() || batch >= indices.rank())
    return error("batch_dims is {}, needs 0 to {}", batch, std::min(data.rank(), indices.rank()) - 1);
  for (size_t i = 0; i < static_cast<size_t>(batch); ++i)
    if (known_different(data[i], indices[i]))
      return error("batch dimension {} is {} in the data and {} in the indices", i, data[i].value(), indices[i].value());
  const Dim& depth = indices.back();
  if (!depth.is_static()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  if (depth.value() < 1 || depth.value() > data.rank() - batch)
    return error("the last dimension of the indices is {}, needs 1 to {} for data of rank {}", depth.value(), data.rank() - batch,
                 data.rank());
  const auto looked_up = std::span<const Dim>(data.dims()).subspan(static_cast<size_t>(batch), static_cast<size_t>(depth.value()));
  SV_TRY(check_indices(c, 1, looked_up));
  std::vector<Dim> out(indices.dims().begin(), indices.dims().end() - 1);
  out.insert(out.end(), data.dims().begin() + batch + depth.value(), data.dims().end());
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

Status check_gathered_nd(LowerContext& c) {
  return emit_index_check(c, 1, indexed_dims(c, static_cast<size_t>(c.attributes().get_int("batch_dims"))));
}

Status lower_gather_nd(LowerContext& c) {
  return emit_gather_nd(c, static_cast<size_t>(c.attributes().get_int("batch_dims")));
}

/// Indices of the whole data: with the position along each of the first `batch` dimensions in front.
Result<Value*> whole_indices(GradientContext& c, Value* indices, int64_t batch) {
  const std::optional<Dims> dims = indices->type.shape.concrete();
  if (!dims) return error("with batch_dims = {} the gradient needs indices of known shape, not {}", batch, to_string(indices->type.shape));
  Dims places = *dims;
  places.back() = batch;
  SV_ASSIGN(MutableTensor table, Tensor::allocate(DType::i64, places));
  const auto first = std::span<const int64_t>(*dims).first(static_cast<size_t>(batch));
  const int64_t inner = element_count(std::span<const int64_t>(places).subspan(static_cast<size_t>(batch))) / batch;
  for (int64_t i = 0; i < table.count() / batch; ++i)
    for (int64_t d = batch - 1, rest = i / inner; d >= 0; rest /= first[static_cast<size_t>(d)], --d)
      table.data<int64_t>()[static_cast<size_t>(i * batch + d)] = rest % first[static_cast<size_t>(d)];
  return c.op("Concat", {c.builder().constant(std::move(table)), indices}, make_attributes({{"axis", int64_t{-1}}}));
}

/// Every slice goes back to where it was taken from.
Status gather_nd_gradient(GradientContext& c) {
  Value *data = c.input(0), *indices = c.input(1);
  if (const int64_t batch = c.attributes().get_int("batch_dims"); batch > 0) {
    SV_ASSIGN(indices, whole_indices(c, indices, batch));
  }
  c.set(0, c.op("ScatterND", {c.zeros_like(data), indices, c.dy()}, make_attributes({{"reduction", std::string("add")}})));
  return {};
}

}  // namespace

OpDef define_gather_nd() {
  return {
      .name = "GatherND",
      .since = 11,
      .inputs = "data, indices",
      .attributes = {{"batch_dims", AttributeKind::kInt, false, 0}},
      .infer = infer_gather_nd,
      .lower = lower_gather_nd,
      .check_values = check_gathered_nd,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"indices", DTypeSet{DType::i64}, {1}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = gather_nd_gradient,
      .traits = {.moves_elements = always},
      .samples = "(float32[3, 4, 17], int64[5, 2] -3 to 3)"
                 "(float32[2, 3, 5], int64[2, 4, 1] 0 to 3) {batch_dims = 1}"
                 "(int64[4, 3], int64[2, 2, 1] 0 to 4)",
  };
}

}  // namespace svengine::ops
