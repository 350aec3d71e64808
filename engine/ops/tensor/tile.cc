// Tile: the input repeated repeats[i] times along dimension i.
#include "engine/graph/gradient.h"
#include "engine/graph/transposed_node.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

Status infer_tile(InferContext& c) {
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_rank(c, 1, 1));
  const Shape& in = c.shape(0);
  const auto repeats = c.integers(1);
  if (!in.has_rank() || !repeats) {
    c.set(0, c.dtype(0), in.has_rank() ? unknown_dims(in.rank()) : Shape());
    return {};
  }
  if (static_cast<int64_t>(repeats->size()) != in.rank())
    return error("{} repeats for an input of rank {}, needs one for each dimension", repeats->size(), in.rank());
  Shape out = in;
  for (size_t i = 0; i < repeats->size(); ++i) {
    if ((*repeats)[i] < 0) return error("repeats[{}] is {}, needs 0 or more", i, (*repeats)[i]);
    out.set(i, multiply(in[i], (*repeats)[i]));
  }
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

/// Every dimension is seen as two: the repetitions, which do not move in the input, and the dimension itself.
CopyView tile_view(const Dims& in, const Dims& out) {
  const std::vector<int64_t> in_strides = strides_of(in), out_strides = strides_of(out);
  CopyView view;
  for (size_t i = 0; i < in.size(); ++i) {
    view.dims.insert(view.dims.end(), {out[i] / in[i], in[i]});
    view.in_strides.insert(view.in_strides.end(), {0, in_strides[i]});
    view.out_strides.insert(view.out_strides.end(), {in[i] * out_strides[i], out_strides[i]});
  }
  return view;
}

constexpr int64_t kShortTile = 512;  // bytes of rows that are repeated first, once, so that longer ones are copied for the other dimensions

Status lower_tile(LowerContext& c) {
  const Dims in = c.in_dims(0), out = c.out_dims();
  if (element_count(out) == 0) return {};
  const size_t element = size_of(c.out_type().dtype);
  size_t last = in.size();  // the innermost dimension that is repeated
  while (last > 0 && in[last - 1] == out[last - 1]) --last;
  Dims rows = in;
  if (last > 0) rows[last - 1] = out[last - 1];
  const int64_t row = last == 0 ? 0 : element_count(std::span<const int64_t>(in).subspan(last - 1)) * static_cast<int64_t>(element);
  if (rows == out || row >= kShortTile) {
    emit_copy(c, "tile", tile_view(in, out));
    return {};
  }
  const Buffer wide = c.temporary(element_count(rows) * static_cast<int64_t>(element));
  emit_copies(c, "tile", element, {{c.in(0), wide, tile_view(in, rows)}});
  emit_copies(c, "tile", element, {{wide, c.out(), tile_view(rows, out)}});
  return {};
}

std::optional<TransposedNode> transposed_tile(const Node& node, const Permutation& perm) {
  const auto repeats = known_integers(node, 1);
  if (!repeats || repeats->size() != perm.size()) return std::nullopt;
  return TransposedNode{.inputs = {perm, {}},
                        .outputs = {perm},
                        .attributes = node.attributes,
                        .constants = {{1, integer_list(composed(*repeats, inverse(perm)))}}};
}

Status tile_gradient(GradientContext& c) {
  const Value *x = c.input(0), *repeats = c.input(1);
  if (!repeats->is_constant() || !x->type.shape.has_rank())
    return error("the gradient needs known repeats and an input of known rank");
  // [r0 d0, r1 d1, ...] as [r0, d0, r1, d1, ...], summed over the r.
  std::vector<int64_t> apart, axes;
  const std::vector<int64_t> r = repeats->constant().as_int64s();
  int unknown = 0;
  for (size_t i = 0; i < r.size(); ++i) {
    const Dim& d = x->type.shape[i];
    unknown += !d.is_static();
    axes.push_back(static_cast<int64_t>(apart.size()));
    apart.insert(apart.end(), {r[i], d.is_static() ? d.value() : -1});
  }
  if (unknown > 1) return unimplemented("the gradient needs an input with at most one unknown dimension, it is {}", to_string(x->type));
  const auto list = [&](const std::vector<int64_t>& v) {
    return c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, std::span<const int64_t>(v)));
  };
  Value* split = c.op("Reshape", {c.dy(), list(apart)}, make_attributes({{"allowzero", int64_t{unknown == 0}}}));
  c.set(0, c.op("ReduceSum", {split, list(axes)}, make_attributes({{"keepdims", int64_t{0}}})));
  return {};
}

}  // namespace

OpDef define_tile() {
  return {
      .name = "Tile",
      .inputs = "input, repeats",
      .infer = infer_tile,
      .lower = lower_tile,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"T1", DTypeSet{DType::i64}, {1}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = tile_gradient,
      .traits = {.shape_inputs = {1}, .moves_elements = always, .transposed = transposed_tile},
      .samples = "(float32[2, 3, 5], int64[3]{1, 2, 3})"
                 "(float32[4, 1], int64[2]{2, 17})"
                 "(int64[3], int64[1]{4})",
  };
}

}  // namespace svengine::ops
