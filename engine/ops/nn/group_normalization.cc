// GroupNormalization: every group of channels of every image to mean 0 and variance 1, then times scale plus bias of the channel.
#include "engine/ops/nn/group_norm_common.h"

namespace svengine::ops {
namespace {

int64_t groups_of(const Attributes& attributes) { return attributes.get_int("num_groups", 0); }

/// Opset 18 had one scale and bias for a group: each is repeated for the group's channels.
Status canonicalize_group_normalization(CanonicalizeContext& c) {
  const int64_t groups = c.attributes().get_int("num_groups", 0);
  if (c.opset() >= 21 || groups < 1 || c.node().inputs().size() != 3) return {};
  Builder b(c.graph(), c.ops());
  b.set_position(&c.node());
  Value* channels = b.add("Shape", {c.node().input(0)}, make_attributes({{"start", int64_t{1}}, {"end", int64_t{2}}}));
  Value* each = b.add("Div", {channels, b.integers({groups})});
  Value* shape = b.add("Concat", {b.integers({1}), each}, make_attributes({{"axis", int64_t{0}}}));
  for (size_t i = 1; i < 3; ++i) {
    if (!c.node().input(i)) return {};
    Value* repeated = b.add("Expand", {b.add("Reshape", {c.node().input(i), b.integers({groups, 1})}), shape});
    c.set_input(i, b.add("Reshape", {repeated, b.integers({-1})}));
  }
  return b.status();
}

Status infer_group_normalization(InferContext& c) {
  SV_TRY(dtype_attribute(c.attributes(), "stash_type", DType::f32, kRealTypes));
  SV_TRY(require_rank_at_least(c, 0, 2));
  SV_TRY(infer_group_norm(c));
  const int64_t groups = groups_of(c.attributes());
  if (groups < 1) return error("num_groups is {}, must be at least 1", groups);
  if (c.shape(0).has_rank() && c.shape(0)[1].is_static() && c.shape(0)[1].value() % groups != 0)
    return error("{} channels cannot be cut into {} groups", c.shape(0)[1].value(), groups);
  return {};
}

Status lower_group_normalization(LowerContext& c) { return lower_group_norm(c, groups_of(c.attributes())); }

Status group_normalization_gradient(GradientContext& c) { return group_norm_gradient(c, groups_of(c.attributes())); }

}  // namespace

OpDef define_group_normalization() {
  return {
      .name = "GroupNormalization",
      .since = 18,
      .until = 28,
      .inputs = "X, scale, bias",
      .attributes = {{"epsilon", AttributeKind::kFloat, false, 1e-5f},
                     {"num_groups", AttributeKind::kInt, true},
                     {"stash_type", AttributeKind::kInt, false, 1}},
      .canonicalize = canonicalize_group_normalization,
      .infer = infer_group_normalization,
      .lower = lower_group_normalization,
      .types = {{"T", kRealTypes, {0, 1, 2}}},
      .gradient = group_normalization_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 6, 5, 7], float32[6], float32[6]) {num_groups = 3}"
                 "(float32[3, 4], float32[4], float32[4]) {num_groups = 2}"
                 "(float64[1, 2, 3], float64[2], float64[2]) {num_groups = 1}",
  };
}

}  // namespace svengine::ops
