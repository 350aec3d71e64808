// com.microsoft.MoEGroupRouter: which experts a token goes to, chosen in two steps (DeepSeek-V3): first the groups whose best experts have
// the largest sums, then the best experts of those groups. What is chosen by is sigmoid(logits) + expert_bias; what is given is the logarithm
// of sigmoid(logits), for Softmax behind it, and router_sentinel for experts that are not chosen. Or both of all experts, for others to choose.
#include <algorithm>
#include <limits>

#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

Status check_router_counts(const InferContext& c, const Dim& experts) {
  const Attributes& a = c.attributes();
  const int64_t k = a.get_int("top_k", 0), groups = a.get_int("n_group", 1), active = a.get_int("topk_group", 1);
  if (k < 1 || groups < 1 || active < 1 || a.get_int("group_topk", 2) < 1)
    return error("top_k, n_group, topk_group and group_topk must be at least 1");
  if (active > groups) return error("topk_group is {}, of {} groups", active, groups);
  if (!experts.is_static()) return {};
  if (experts.value() < 1 || experts.value() % groups != 0) return error("{} experts cannot be cut into {} groups", experts.value(), groups);
  if (k > experts.value() / groups * active) return error("top_k is {}, but the chosen groups have {} experts", k, experts.value() / groups * active);
  return {};
}

Status infer_group_router(InferContext& c) {
  const bool projected = c.has_input(2);
  SV_TRY(require_rank_at_least(c, 0, 2));
  SV_TRY(require_rank(c, 1, 1));
  const Shape& x = c.shape(0);
  Dim experts = c.shape(1).has_rank() ? c.shape(1)[0] : Dim(), tokens = x.has_rank() ? product(x, 0, static_cast<size_t>(x.rank()) - 1) : Dim();
  if (projected) {
    SV_TRY(require_rank(c, 0, 2));
    SV_TRY(require_rank(c, 2, 2));
    const Shape& w = c.shape(2);
    if (w.has_rank() && (known_different(w[0], experts) || (x.has_rank() && known_different(w[1], x[1]))))
      return error("projection_weight is {}, needs [experts, width] of expert_bias {} and activations {}", to_string(w), to_string(c.shape(1)),
                   to_string(x));
  } else {
    if (x.has_rank() && known_different(x.back(), experts))
      return error("expert_bias has {} elements, needs one for each of the last dimension of logits {}", experts.value(), to_string(x));
    if (x.has_rank()) experts = merge(x.back(), experts);
  }
  SV_TRY(check_router_counts(c, experts));
  c.set(0, c.dtype(0), Shape{tokens, experts});
  for (size_t i = 1; i < 3; ++i) c.set(i, DType::f32, Shape{tokens, experts});
  return {};
}

struct TopChoice {
  Value *values, *indices;
};

TopChoice top(ExpandContext& c, Value* v, int64_t k) {
  const Node* node = c.builder().node("", "TopK", {v, c.ints({k})}, 2, make_attributes({{"axis", int64_t{-1}}}));
  return node ? TopChoice{node->output(0), node->output(1)} : TopChoice{nullptr, nullptr};
}

Value* filled_like(ExpandContext& c, double value, Value* like) { return c.op("Expand", {c.number(value, DType::f32), c.op("Shape", {like})}); }

Value* scattered(ExpandContext& c, Value* into, Value* indices, Value* values) {
  return c.op("ScatterElements", {into, indices, values}, make_attributes({{"axis", int64_t{1}}}));
}

/// [tokens, experts]: minus infinity for those of groups that are not chosen.
Value* within_groups(ExpandContext& c, Value* choice, int64_t experts) {
  const int64_t groups = c.attributes().get_int("n_group", 1), active = c.attributes().get_int("topk_group", 1), size = experts / groups;
  if (active == groups) return choice;
  Value* grouped = c.reshape(choice, {-1, groups, size});
  Value* best = top(c, grouped, std::min(c.attributes().get_int("group_topk", 2), size)).values;
  Value* scores = c.op("ReduceSum", {best, c.ints({2})}, make_attributes({{"keepdims", int64_t{0}}}));
  Value* chosen = top(c, scores, active).indices;
  Value* mask = c.op("Greater", {scattered(c, filled_like(c, 0, scores), chosen, filled_like(c, 1, chosen)), c.number(0, DType::f32)});
  Value* kept = c.op("Where", {c.unsqueeze(mask, {2}), grouped, c.number(-std::numeric_limits<double>::infinity(), DType::f32)});
  return c.reshape(kept, {-1, experts});
}

/// Which outputs are read is known of nodes in a graph alone.
Status check_router_outputs(const ExpandContext& c) {
  const bool full = c.has_output(1) || c.has_output(2);
  if (full && c.has_output(0)) return error("router_probs cannot be asked for together with selection_scores and router_weights");
  if (c.has_input(2) && c.has_output(0)) return error("projection_weight goes with selection_scores and router_weights");
  if (full && (c.attributes().get_int("n_group", 1) != 1 || c.attributes().get_int("topk_group", 1) != 1))
    return error("selection_scores and router_weights need n_group and topk_group of 1");
  return {};
}

Status expand_group_router(ExpandContext& c) {
  SV_TRY(check_router_outputs(c));
  const auto experts = c.dim(1, 0);
  if (!experts) return {};
  Value* logits = c.cast(c.input(0), DType::f32);
  if (c.has_input(2)) logits = c.op("MatMul", {logits, c.transpose(c.cast(c.input(2), DType::f32), {1, 0})});
  Value* weight = c.op("Sigmoid", {c.reshape(logits, {-1, *experts})});
  Value* choice = c.op("Add", {weight, c.input(1)});
  c.set(1, choice);
  c.set(2, weight);
  if (!c.has_output(0)) return {};
  Value* chosen = top(c, within_groups(c, choice, *experts), c.attributes().get_int("top_k", 1)).indices;
  Value* logarithm = c.op("Log", {c.op("Max", {weight, c.number(1e-20, DType::f32)})});
  Value* values = c.op("GatherElements", {logarithm, chosen}, make_attributes({{"axis", int64_t{1}}}));
  Value* rest = filled_like(c, c.attributes().get_float("router_sentinel", -10000.0f), weight);
  c.set(0, c.cast(scattered(c, rest, chosen, values), c.dtype(0)));
  return {};
}

}  // namespace

OpDef define_microsoft_mo_e_group_router() {
  return {
      .name = "MoEGroupRouter",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "logits, expert_bias, projection_weight?",
      .outputs = {0, 3},
      .attributes = {{"top_k", AttributeKind::kInt, true},
                     {"n_group", AttributeKind::kInt, false, 1},
                     {"topk_group", AttributeKind::kInt, false, 1},
                     {"group_topk", AttributeKind::kInt, false, 2},
                     {"router_sentinel", AttributeKind::kFloat, false, -10000.0f}},
      .expand = expand_group_router,
      .infer = infer_group_router,
      .types = {{"T", kSingleTypes, {0, 2}}, {"TF", {DType::f32}, {1}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 12], float32[12]) {top_k = 3, n_group = 4, topk_group = 2}"
                 "(float32[5, 4], float32[4]) {top_k = 2, router_sentinel = -1.0}",
  };
}

}  // namespace svengine::ops
