// Split: pieces of the input along `axis`, of given sizes or equal ones.
#include "engine/base/round.h"
#include "engine/graph/axes.h"
#include "engine/graph/blocked_rank.h"
#include "engine/graph/gradient.h"
#include "engine/graph/transposed_node.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

/// In canonical form the number of outputs says what num_outputs does, where nothing else is given.
Status canonicalize_split(CanonicalizeContext& c) {
  if (c.opset() >= 18 && !c.node().input(1) && !c.attributes().has("num_outputs"))
    return error("has neither input split nor attribute num_outputs, needs one of them since opset 18");
  c.attribute_to_input("split", 1);
  return {};
}

/// With num_outputs the last piece may be smaller; before opset 18 there was no such attribute, and pieces were equal.
Result<std::vector<int64_t>> equal_sizes(int64_t whole, int64_t pieces, bool last_smaller) {
  const int64_t size = ceil_div(whole, pieces);
  const int64_t last = whole - size * (pieces - 1);
  if (last < 0 || (last != size && !last_smaller)) return error("{} does not split into {} equal pieces", whole, pieces);
  std::vector<int64_t> sizes(static_cast<size_t>(pieces), size);
  sizes.back() = last;
  return sizes;
}

Status check_sizes(std::span<const int64_t> sizes, size_t outputs, const Dim& whole) {
  if (sizes.size() != outputs) return error("{} sizes for {} outputs", sizes.size(), outputs);
  Dim total = 0;
  for (int64_t s : sizes) {
    if (s < 0) return error("a piece has size {}, needs 0 or more", s);
    total = add(total, s);
    if (total.value() > (int64_t{1} << 48)) return error("the pieces are too large");
  }
  if (known_different(total, whole)) return error("the pieces sum to {}, the axis has {}", total.value(), whole.value());
  return {};
}

Status infer_split(InferContext& c) {
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_rank(c, 1, 1));
  const size_t pieces = c.output_count();
  const bool has_count = c.attributes().has("num_outputs");
  if (has_count && c.has_input(1)) return error("both sizes and num_outputs are given, needs one of them");
  if (has_count && c.attributes().get_int("num_outputs") != static_cast<int64_t>(pieces))
    return error("num_outputs is {}, the node has {} outputs", c.attributes().get_int("num_outputs"), pieces);
  const Shape& in = c.shape(0);
  if (!in.has_rank()) {
    for (size_t i = 0; i < pieces; ++i) c.set(i, c.dtype(0), Shape());
    return {};
  }
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), in.rank()));
  const Dim& whole = in[static_cast<size_t>(axis)];
  std::optional<std::vector<int64_t>> sizes;
  if (c.has_input(1)) {
    sizes = c.integers(1);
    if (sizes) SV_TRY(check_sizes(*sizes, pieces, whole));
  } else if (whole.is_static()) {
    SV_ASSIGN(sizes, equal_sizes(whole.value(), static_cast<int64_t>(pieces), has_count));
  }
  for (size_t i = 0; i < pieces; ++i) {
    Shape out = in;
    out.set(static_cast<size_t>(axis), sizes ? Dim((*sizes)[i]) : Dim());
    c.set(i, c.dtype(0), std::move(out));
  }
  return {};
}

/// Of channels that are blocked already, whole blocks for every piece but the last, as Concat's gradient is where Concat was blocked.
bool can_block_split(const Node& node, int block) {
  const Type& in = node.input(0)->type;
  const int64_t axis = node.attributes.get_int("axis");
  if (in.block == 0 || !is_blocked_rank(in.shape.rank()) || (axis != 1 && axis != 1 - in.shape.rank())) return false;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const Dim& channels = node.output(i)->type.shape[1];
    if (!channels.is_static() || channels.value() == 0) return false;
    if (i + 1 < node.outputs().size() && channels.value() % block != 0) return false;
  }
  return true;
}

Status lower_split(LowerContext& c) {
  const Dims in = stored_dims(c.in_type(0));
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(c.in_dims(0).size())));
  const std::vector<int64_t> in_strides = strides_of(in);
  std::vector<Copy> copies;
  int64_t offset = 0;
  for (size_t i = 0; i < c.node().outputs().size(); ++i) {
    const Dims out = stored_dims(c.out_type(i));
    copies.push_back({c.in(0), c.out(i), {.dims = out, .in_strides = in_strides, .out_strides = strides_of(out), .in_offset = offset}});
    offset += out[static_cast<size_t>(axis)] * in_strides[static_cast<size_t>(axis)];
  }
  emit_copies(c, "split", size_of(c.out_type().dtype), std::move(copies));
  return {};
}

Status split_gradient(GradientContext& c) {
  std::vector<Value*> parts;
  for (size_t i = 0; i < c.node().outputs().size(); ++i)
    parts.push_back(c.output_gradient(i) ? c.output_gradient(i) : c.zeros_like(c.output(i)));
  c.set(0, c.op("Concat", std::move(parts), make_attributes({{"axis", c.attributes().get_int("axis")}})));
  return {};
}

}  // namespace

OpDef define_split() {
  return {
      .name = "Split",
      .inputs = "input, split?",
      .outputs = {1, kVariadic},
      .attributes = {{"axis", AttributeKind::kInt, false, 0}, {"num_outputs", AttributeKind::kInt}},
      .canonicalize = canonicalize_split,
      .infer = infer_split,
      .lower = lower_split,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"split", DTypeSet{DType::i64}, {1}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = split_gradient,
      .traits = {.shape_inputs = {1},
                 .moves_elements = always,
                 .transposed = [](const Node& node, const Permutation& perm) { return transposed_along_axis(node, perm, 1, 0); }},
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_split},
      .samples = "(float32[6, 5]) 3"
                 "(float32[2, 55, 3, 5], int64[3]{16, 32, 7}) {axis = 1} 3"
                 "(float32[3, 7], int64[3]{2, 0, 5}) {axis = -1} 3"
                 "(float32[7, 3]) {num_outputs = 3} 3",
  };
}

}  // namespace svengine::ops
