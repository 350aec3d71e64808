// Compress: the slices along `axis` (or elements of the flattened input) whose condition is true. How many there are depends
// on the condition, so it is known when the node is planned.
#include "engine/graph/axes.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/samples.h"
#include "engine/ops/tensor/index_common.h"

namespace svengine::ops {
namespace {

/// Places of the true entries. The condition may be shorter than the axis: the rest is false.
std::vector<int64_t> chosen(const Tensor& condition) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < condition.count(); ++i)
    if (condition.data<uint8_t>()[static_cast<size_t>(i)]) out.push_back(i);
  return out;
}

Status infer_compress(InferContext& c) {
  SV_TRY(require_rank_at_least(c, 0, "input", 1));
  SV_TRY(require_dtype(c, 1, "condition", kBool));
  SV_TRY(require_rank(c, 1, "condition", 1));
  const Shape& in = c.shape(0);
  std::optional<int64_t> axis;
  if (in.has_rank() && c.attributes().has("axis")) {
    SV_ASSIGN(axis, normalise_axis(c.attributes().get_int("axis"), in.rank()));
  }
  Dim count;
  if (const Tensor* condition = c.constant(1)) {
    const std::vector<int64_t> places = chosen(*condition);
    const Dim size = axis ? in[static_cast<size_t>(*axis)] : in.has_rank() && !c.attributes().has("axis") ? product(in, 0, in.dims().size()) : Dim();
    if (!places.empty() && size.is_static() && places.back() >= size.value())
      return error("condition {} is true, but there are only {} to choose from", places.back(), size.value());
    count = static_cast<int64_t>(places.size());
  }
  if (!c.attributes().has("axis")) {
    c.set(0, c.dtype(0), Shape{count});
    return {};
  }
  Shape out = in;
  if (axis) out[static_cast<size_t>(*axis)] = count;
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Status lower_compress(LowerContext& c) {
  if (!c.constant(1)) return error("the condition is not known when the node is planned");
  const Dims in = c.in_dims(0);
  const std::span<const int64_t> dims(in);
  int64_t outer = 1, size = element_count(in), inner = 1;
  if (c.attributes().has("axis")) {
    SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(in.size())));
    const auto a = static_cast<size_t>(axis);
    outer = element_count(dims.first(a));
    size = in[a];
    inner = element_count(dims.subspan(a + 1));
  }
  const std::vector<int64_t> places = chosen(*c.constant(1));
  emit_gather(c, {outer, size, inner, static_cast<int64_t>(places.size())}, c.table(std::as_bytes(std::span(places))), true);
  return {};
}

}  // namespace

OpDef define_compress() {
  return {
      .name = "Compress",
      .since = 9,
      .inputs = {2, 2},
      .attributes = {{"axis", AttributeKind::kInt}},
      .infer = infer_compress,
      .lower = lower_compress,
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .traits = {.shape_inputs = {1}},
      .samples = {{.inputs = {f32({3, 5}), fixed(Tensor::of<bool>({3}, {true, false, true}))}, .attributes = {{"axis", integer(0)}}},
                  {.inputs = {f32({3, 5}), fixed(Tensor::of<bool>({7}, {false, true, true, false, true, false, true}))}}},
  };
}

}  // namespace svengine::ops
