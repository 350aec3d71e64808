// Squeeze: drops dimensions of 1: the given ones, or all.
#include <algorithm>

#include "engine/graph/gradient.h"
#include "engine/graph/axes.h"
#include "engine/graph/transposed_node.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

Status canonicalize_squeeze(CanonicalizeContext& c) {
  c.attribute_to_input("axes", 1);
  return {};
}

/// Without axes: known only when every dimension is a number, a named one may be 1 or not.
Shape squeezed_all(const Shape& in) {
  if (!in.is_static()) return {};
  std::vector<Dim> out;
  for (const Dim& d : in.dims())
    if (d.value() != 1) out.push_back(d);
  return Shape(std::move(out));
}

Result<Shape> squeezed(const Shape& in, std::span<const int64_t> wanted) {
  SV_ASSIGN(const std::vector<int64_t> axes, normalise_axes(wanted, in.rank()));
  std::vector<Dim> out;
  for (int64_t i = 0; i < in.rank(); ++i) {
    const Dim& d = in[static_cast<size_t>(i)];
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) out.push_back(d);
    else if (known_different(d, 1)) return error("axis {} of shape {} is {}, only 1 can be squeezed", i, svengine::to_string(in), d.value());
  }
  return Shape(std::move(out));
}

Status infer_squeeze(InferContext& c) {
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_rank(c, 1, 1));
  const Shape& in = c.shape(0);
  if (!c.has_input(1)) {
    c.set(0, c.dtype(0), squeezed_all(in));
    return {};
  }
  const auto axes = c.integers(1);
  if (!in.has_rank() || !axes) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  SV_ASSIGN(Shape out, squeezed(in, *axes));
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

std::optional<TransposedNode> transposed_squeeze(const Node& node, const Permutation& perm) {
  const auto rank = static_cast<int64_t>(perm.size());
  const Shape& x = node.input(0)->type.shape;
  std::vector<int64_t> dropped;
  TransposedNode out{.inputs = {perm, {}}, .outputs = {}, .attributes = node.attributes};
  out.inputs.resize(node.inputs().size());
  if (node.input(1)) {
    const auto axes = known_integers(node, 1);
    const auto normal = axes ? normalise_axes(*axes, rank) : Result<std::vector<int64_t>>(error("not known"));
    if (!normal.ok()) return std::nullopt;
    dropped = *normal;
    std::sort(dropped.begin(), dropped.end());
    out.constants.emplace_back(1, integer_list(*stored_axes(dropped, perm)));
  } else {
    if (!x.is_static()) return std::nullopt;
    for (int64_t i = 0; i < rank; ++i)
      if (x[static_cast<size_t>(i)].same(Dim(1))) dropped.push_back(i);
  }
  out.outputs = {without(perm, dropped)};
  return out;
}

Status squeeze_gradient(GradientContext& c) {
  c.set(0, c.reshape_to(c.dy(), c.input(0)));
  return {};
}

}  // namespace

OpDef define_squeeze() {
  return {
      .name = "Squeeze",
      .inputs = "data, axes?",
      .canonicalize = canonicalize_squeeze,
      .infer = infer_squeeze,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"axes", DTypeSet{DType::i64}, {1}}},
      .gradient = squeeze_gradient,
      .traits = {.shape_inputs = {1}, .is_view = true, .transposed = transposed_squeeze},
      .samples = "(float32[1, 3, 1, 5])"
                 "(float32[1, 3, 1, 5], int64[1]{-2})"
                 "(int64[1, 3, 1], int64[2]{0, 2})",
  };
}

}  // namespace svengine::ops
