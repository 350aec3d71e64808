// Expand: broadcasting against a given shape; a dimension of 1 there keeps the input's.
#include "engine/graph/gradient.h"
#include "engine/graph/transposed_node.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

Status infer_expand(InferContext& c) {
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_rank(c, 1, 1));
  if (const auto dims = c.integers(1)) {
    SV_TRY(check_dims(*dims));
    SV_ASSIGN(Shape out, broadcast(c.shape(0), Shape::of(*dims)));
    c.set(0, c.dtype(0), std::move(out));
    return {};
  }
  const Shape& s = c.shape(1);
  const bool known = s.has_rank() && s[0].is_static() && c.shape(0).has_rank() && s[0].value() <= 32;
  if (!known) return c.set(0, c.dtype(0), Shape()), Status();
  const std::vector<Dim>& in = c.shape(0).dims();
  Shape out = unknown_dims(std::max(s[0].value(), c.shape(0).rank()));
  for (size_t i = 0; i < in.size(); ++i)  // other sizes than 1 stay
    if (in[i].is_static() && in[i].value() != 1) out.set(out.dims().size() - in.size() + i, in[i]);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Status lower_expand(LowerContext& c) {
  const Dims out = c.out_dims();
  emit_copy(c, "expand", {.dims = out, .in_strides = broadcast_strides(c.in_dims(0), out), .out_strides = strides_of(out)});
  return {};
}

std::optional<TransposedNode> transposed_expand(const Node& node, const Permutation& perm) {
  auto shape = known_integers(node, 1);
  if (!shape || shape->size() > perm.size() || node.input(0)->type.shape.rank() > static_cast<int64_t>(perm.size())) return std::nullopt;
  shape->insert(shape->begin(), perm.size() - shape->size(), 1);
  return TransposedNode{.inputs = {perm, {}},
                        .outputs = {perm},
                        .attributes = node.attributes,
                        .constants = {{1, integer_list(composed(*shape, inverse(perm)))}}};
}

Status expand_gradient(GradientContext& c) {
  c.set(0, c.sum_to(c.dy(), c.input(0)));
  return {};
}

}  // namespace

OpDef define_expand() {
  return {
      .name = "Expand",
      .since = 8,
      .inputs = "input, shape",
      .infer = infer_expand,
      .lower = lower_expand,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"shape", DTypeSet{DType::i64}, {1}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = expand_gradient,
      .traits = {.shape_inputs = {1}, .moves_elements = always, .transposed = transposed_expand},
      .samples = "(float32[3, 1], int64[3]{2, 1, 17})"
                 "(float32[3, 1, 5], int64[3]{1, 4, 1})"
                 "(int64[], int64[1]{6})",
  };
}

}  // namespace svengine::ops
