// Unsqueeze: inserts dimensions of 1 at the given places of the output.
#include <algorithm>

#include "engine/graph/gradient.h"
#include "engine/graph/axes.h"
#include "engine/graph/transposed_node.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

Status canonicalize_unsqueeze(CanonicalizeContext& c) {
  c.attribute_to_input("axes", 1);
  return {};
}

Status infer_unsqueeze(InferContext& c) {
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  if (c.shape(1).has_rank() && c.shape(1).rank() > 1) SV_TRY(require_rank(c, 1, 1));
  const Shape& in = c.shape(0);
  const auto wanted = c.integers(1);
  if (!in.has_rank() || !wanted) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  const int64_t rank = in.rank() + static_cast<int64_t>(wanted->size());
  SV_ASSIGN(const std::vector<int64_t> axes, normalise_axes(*wanted, rank));
  std::vector<Dim> out;
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i) out.push_back(std::find(axes.begin(), axes.end(), i) != axes.end() ? Dim(1) : in[next++]);
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

/// The stored output has its 1s where the output has them.
std::optional<TransposedNode> transposed_unsqueeze(const Node& node, const Permutation& perm) {
  const auto wanted = known_integers(node, 1);
  const int64_t rank = node.output()->type.shape.rank();
  if (!wanted || static_cast<size_t>(rank) != perm.size() + wanted->size()) return std::nullopt;
  const auto axes = normalise_axes(*wanted, rank);
  if (!axes.ok()) return std::nullopt;
  std::vector<int64_t> others;
  for (int64_t i = 0; i < rank; ++i)
    if (std::find(axes->begin(), axes->end(), i) == axes->end()) others.push_back(i);
  Permutation out = every_axis(rank);
  for (size_t k = 0; k < perm.size(); ++k) out[static_cast<size_t>(others[k])] = others[static_cast<size_t>(perm[k])];
  return TransposedNode{.inputs = {perm, {}}, .outputs = {std::move(out)}, .attributes = node.attributes};
}

Status unsqueeze_gradient(GradientContext& c) {
  c.set(0, c.reshape_to(c.dy(), c.input(0)));
  return {};
}

}  // namespace

OpDef define_unsqueeze() {
  return {
      .name = "Unsqueeze",
      .inputs = "data, axes",
      .canonicalize = canonicalize_unsqueeze,
      .infer = infer_unsqueeze,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"axes", DTypeSet{DType::i64}, {1}}},
      .gradient = unsqueeze_gradient,
      .traits = {.shape_inputs = {1}, .is_view = true, .transposed = transposed_unsqueeze},
      .samples = "(float32[3, 5], int64[1]{0})"
                 "(float32[3, 5], int64[2]{-1, 1})"
                 "(int64[], int64[1]{0})",
  };
}

}  // namespace svengine::ops
