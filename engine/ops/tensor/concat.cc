// Concat: the inputs one after the other along `axis`.
#include <algorithm>

#include "engine/graph/blocked_rank.h"
#include "engine/graph/gradient.h"
#include "engine/graph/axes.h"
#include "engine/graph/transposed_node.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

constexpr int kMostBlockedInputs = 64;

Status canonicalize_concat(CanonicalizeContext& c) {
  if (!c.attributes().has("axis") && c.opset() < 4) c.attributes().set("axis", int64_t{1});
  return {};
}

Status infer_concat(InferContext& c) {
  SV_TRY(require_same_dtypes(c));
  Shape out;
  int64_t axis = 0;
  bool rank_missing = false;
  for (size_t i = 0; i < c.input_count(); ++i) {
    const Shape& in = c.shape(i);
    if (!in.has_rank()) {
      rank_missing = true;
      continue;
    }
    if (!out.has_rank()) {
      SV_ASSIGN(axis, normalise_axis(c.attributes().get_int("axis"), in.rank()));
      out = in;
      continue;
    }
    if (in.rank() != out.rank()) return error("inputs have ranks {} and {}, need one rank", out.rank(), in.rank());
    for (size_t d = 0; d < in.dims().size(); ++d) {
      if (d == static_cast<size_t>(axis)) {
        out.set(d, add(out[d], in[d]));
      } else if (known_different(out[d], in[d])) {
        return error("{} is {} wide in dimension {}, those before are {}; only dimension {} may differ", c.described(i), in[d].value(), d,
                     out[d].value(), axis);
      } else {
        out.set(d, merge(out[d], in[d]));
      }
    }
  }
  if (rank_missing && out.has_rank()) out.set(static_cast<size_t>(axis), Dim());
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

/// Whole blocks move when every input but the last has whole blocks of channels. Only blocked inputs are a reason for it.
bool can_block_concat(const Node& node, int block) {
  if (node.inputs().size() > kMostBlockedInputs) return false;
  const int64_t axis = node.attributes.get_int("axis"), rank = node.output()->type.shape.rank();
  if (!is_blocked_rank(rank)) return false;
  if (std::none_of(node.inputs().begin(), node.inputs().end(), [](const Value* v) { return v->type.block > 0; })) return false;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Shape& shape = node.input(i)->type.shape;
    if (node.input(i)->type.dtype != DType::f32 || shape.rank() != rank) return false;
    if ((axis == 1 || axis == 1 - rank) && i + 1 < node.inputs().size() && (!shape[1].is_static() || shape[1].value() % block != 0))
      return false;
  }
  return true;
}

/// Nothing varies more slowly than the axis.
bool concat_joins(const Node& node) {
  const Type& out = node.output()->type;
  for (const Value* v : node.inputs())
    if (v->type.block != out.block) return false;
  const Dims dims = stored_dims(out);
  const auto axis = normalise_axis(node.attributes.get_int("axis"), out.shape.rank());
  return axis.ok() && std::all_of(dims.begin(), dims.begin() + *axis, [](int64_t d) { return d == 1; });
}

Status lower_concat(LowerContext& c) {
  const auto element = static_cast<int64_t>(size_of(c.out_type().dtype));
  const Dims out = stored_dims(c.out_type());
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(c.out_dims().size())));
  const std::vector<int64_t> out_strides = strides_of(out);
  std::vector<Copy> copies;
  int64_t offset = 0;
  for (size_t i = 0; i < c.input_count(); ++i) {
    const Dims in = stored_dims(c.in_type(i));
    const Buffer from = c.in(i), to = c.out();
    const bool in_place = from.base == to.base && from.offset == to.offset + offset * element;
    if (!in_place) copies.push_back({from, to, {.dims = in, .in_strides = strides_of(in), .out_strides = out_strides, .out_offset = offset}});
    offset += in[static_cast<size_t>(axis)] * out_strides[static_cast<size_t>(axis)];
  }
  if (!copies.empty()) emit_copies(c, "concat", static_cast<size_t>(element), std::move(copies));
  return {};
}

InputSet further_inputs() {
  InputSet out;
  for (int i = 1; i < kMostBlockedInputs; ++i) out.insert(i);
  return out;
}

Status concat_gradient(GradientContext& c) {
  const int64_t axis = c.attributes().get_int("axis");
  const size_t count = c.node().inputs().size();
  // The sizes of the pieces are constants as soon as shapes are.
  std::vector<Value*> sizes;
  for (size_t i = 0; i < count; ++i) {
    const int64_t rank = c.input(i)->type.shape.rank();
    if (rank < 0) return error("input {} is of unknown rank", i);
    const int64_t at = axis < 0 ? axis + rank : axis;
    sizes.push_back(c.op("Shape", {c.input(i)}, make_attributes({{"start", at}, {"end", at + 1}})));
  }
  Value* list = c.op("Concat", std::move(sizes), make_attributes({{"axis", int64_t{0}}}));
  const Node* split = c.builder().node("", "Split", {c.dy(), list}, count, make_attributes({{"axis", axis}}));
  for (size_t i = 0; split && i < count; ++i) c.set(i, split->output(i));
  return {};
}

}  // namespace

OpDef define_concat() {
  return {
      .name = "Concat",
      .inputs = "inputs...",
      .attributes = {{"axis", AttributeKind::kInt, true}},
      .canonicalize = canonicalize_concat,
      .infer = infer_concat,
      .lower = lower_concat,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = concat_gradient,
      .traits = {.moves_elements = always,
                 .aliases_concat = concat_joins,
                 .transposed = [](const Node& node, const Permutation& perm) { return transposed_along_axis(node, perm, node.inputs().size(), 0); }},
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_concat, .inputs = further_inputs()},
      .samples = "(float32[2, 3], float32[2, 5]) {axis = -1}"
                 "(float32[1, 32, 3, 5], float32[1, 16, 3, 5], float32[1, 7, 3, 5]) {axis = 1}"
                 "(int64[2], int64[0], int64[1]) {axis = 0}",
  };
}

}  // namespace svengine::ops
