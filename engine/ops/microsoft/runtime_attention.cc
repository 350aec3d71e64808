// com.microsoft.Attention: one product makes queries, keys and values, which are cut into heads; past and present hold keys and
// values one after the other.
#include "engine/ops/microsoft/runtime_attention_common.h"

namespace svengine::ops {
namespace {

struct AttentionHidden {
  int64_t qk, v;  // hidden sizes of queries (and keys), and of values
};

/// Unset where the weights' shape is not known and no attribute says it.
Result<std::optional<AttentionHidden>> attention_hidden(const Attributes& attributes, const Shape& weights) {
  const std::vector<int64_t> given = attributes.get_ints("qkv_hidden_sizes");
  const int64_t heads = attributes.get_int("num_heads", 0);
  if (heads < 1) return error("num_heads is {}, must be at least 1", heads);
  const Dim all = weights.has_rank() && weights.rank() == 2 ? weights[1] : Dim();
  AttentionHidden hidden{0, 0};
  if (!given.empty()) {
    if (given.size() != 3 || given[0] != given[1] || given[0] < 1 || given[2] < 1)
      return error("qkv_hidden_sizes must be three positive numbers, the first two equal");
    hidden = {given[0], given[2]};
    if (known_different(all, Dim(2 * hidden.qk + hidden.v)))
      return error("weights have {} columns; qkv_hidden_sizes need {}", all.value(), 2 * hidden.qk + hidden.v);
  } else {
    if (!all.is_static()) return std::optional<AttentionHidden>();
    if (all.value() % 3 != 0)
      return error("weights have {} columns, must be a multiple of 3 without qkv_hidden_sizes", all.value());
    hidden = {all.value() / 3, all.value() / 3};
  }
  if (hidden.qk % heads != 0 || hidden.v % heads != 0)
    return error("hidden sizes {} and {} cannot be cut into {} heads", hidden.qk, hidden.v, heads);
  return std::optional(hidden);
}

Status check_merged_inputs(const InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  for (const size_t i : {1, 2, 4, 5})
    if (c.has_input(i) && c.dtype(i) != c.dtype(0))
      return error("{} is {}, must be {} as input 0 is", c.described(i), name_of(c.dtype(i)), name_of(c.dtype(0)));
  SV_TRY(require_rank(c, 0, 3));
  SV_TRY(require_rank(c, 1, 2));
  SV_TRY(require_rank(c, 2, 1));
  SV_TRY(require_rank(c, 4, 5));
  if (c.shape(0).has_rank() && c.shape(1).has_rank() && known_different(c.shape(0)[2], c.shape(1)[0]))
    return error("weights {} do not fit input {}", to_string(c.shape(1)), to_string(c.shape(0)));
  if (c.has_input(2) && c.shape(2).has_rank() && c.shape(1).has_rank() && known_different(c.shape(2)[0], c.shape(1)[1]))
    return error("bias has {} elements, needs one for each of the weights' {} columns", c.shape(2)[0].value(),
                 c.shape(1)[1].value());
  for (const char* name : {"do_rotary", "past_present_share_buffer"})
    if (c.attributes().get_int(name, 0) != 0) return unimplemented("{} is not supported", name);
  if (c.has_input(6)) return unimplemented("past_sequence_length goes with past_present_share_buffer, which is not supported");
  return {};
}

Status infer_merged_attention(InferContext& c) {
  SV_TRY(check_merged_inputs(c));
  SV_ASSIGN(const std::optional<AttentionHidden> hidden, attention_hidden(c.attributes(), c.shape(1)));
  const Dim heads(c.attributes().get_int("num_heads", 1)), batch = c.shape(0).has_rank() ? c.shape(0)[0] : Dim(),
                                                           queries = c.shape(0).has_rank() ? c.shape(0)[1] : Dim();
  const Dim size = hidden ? Dim(hidden->qk / heads.value()) : Dim();
  Dim past(0);
  if (c.has_input(4)) {
    past = c.shape(4).has_rank() ? c.shape(4)[3] : Dim();
    const Shape wanted{Dim(2), batch, heads, past, size};
    for (size_t d = 0; c.shape(4).has_rank() && d < 5; ++d)
      if (known_different(c.shape(4)[d], wanted[d]))
        return error("past is {}, needs {}", to_string(c.shape(4)), to_string(wanted));
    if (hidden && hidden->qk != hidden->v)
      return error("with past, the hidden sizes of keys and values must be equal; they are {} and {}", hidden->qk, hidden->v);
  }
  const Dim keys = add(past, queries);
  SV_TRY(check_runtime_mask(c, 3, batch, queries, keys, Placeholder::taken));
  SV_TRY(check_attention_bias(c, 5, Shape{batch, heads, queries, keys}));
  if (c.has_output(1) && hidden && hidden->qk != hidden->v)
    return error("with present, the hidden sizes of keys and values must be equal");
  c.set(0, c.dtype(0), Shape{batch, queries, hidden ? Dim(hidden->v) : Dim()});
  c.set(1, c.dtype(0), Shape{Dim(2), batch, heads, keys, size});
  return {};
}

/// Keys (0) or values (1) of [2, B, heads, length, size].
Value* half_of(ExpandContext& c, Value* both, int64_t which) {
  return c.op("Squeeze", {c.slice(both, 0, which, which + 1), c.ints({0})});
}

Status expand_merged_attention(ExpandContext& c) {
  SV_ASSIGN(const std::optional<AttentionHidden> hidden, attention_hidden(c.attributes(), c.shape(1)));
  if (!hidden || !c.shape(0).has_rank() || (c.has_input(2) && !c.shape(2).has_rank())) return {};
  MergedProduct merged{c.op("MatMul", {c.input(0), c.input(1)}), hidden->qk, hidden->v};
  if (c.has_input(2)) merged.all = c.op("Add", {merged.all, c.input(2)});
  merged.bias = c.input(5);
  return attend_merged(c, merged);
}

}  // namespace

Status attend_merged(ExpandContext& c, const MergedProduct& merged) {
  if (c.has_input(merged.past) && !c.shape(merged.past).has_rank()) return {};
  AttentionProduct p;
  p.q_heads = p.kv_heads = c.attributes().get_int("num_heads", 1);
  p.scale = runtime_scale(c.attributes(), merged.qk / p.q_heads);
  const Node* parts = c.builder().node("", "Split", {merged.all, c.ints({merged.qk, merged.qk, merged.v})}, 3,
                                       make_attributes({{"axis", int64_t{2}}}));
  if (!parts) return {};
  p.q = split_heads(c, parts->output(0), p.q_heads);
  p.k = split_heads(c, parts->output(1), p.q_heads);
  p.v = split_heads(c, parts->output(2), p.q_heads);
  Value* past = nullptr;
  if (Value* both = c.input(merged.past)) {
    past = c.scalar_of_dim(both, 3);
    p.k = c.concat({half_of(c, both, 0), p.k}, 2), p.v = c.concat({half_of(c, both, 1), p.v}, 2);
  }
  if (!c.builder().status().ok()) return {};
  Value* mask = c.input(merged.mask);
  if (mask) {
    const std::optional<bool> placeholder = is_placeholder(mask->type.shape, p.k->type.shape[2]);
    if (!placeholder) return {};
    if (*placeholder) mask = nullptr;
  }
  RuntimeMask m{mask, c.attributes().get_float("mask_filter_value", -10000.0f),
                c.attributes().get_int("unidirectional", 0) != 0, merged.bias};
  bool known = true;
  p.bias = runtime_bias(c, m, p.q, p.k, past, known);
  if (!known || !c.builder().status().ok()) return {};
  const AttentionParts result = attend(c, p);
  const DType type = c.node().output(0)->type.dtype;
  c.set(0, merge_heads(c, c.cast(result.y, type)));
  if (c.has_output(1)) c.set(1, c.concat({c.unsqueeze(c.cast(p.k, type), {0}), c.unsqueeze(c.cast(p.v, type), {0})}, 0));
  return {};
}

OpDef define_microsoft_attention() {
  return {
      .name = "Attention",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input, weights, bias?, mask_index?, past?, attention_bias?, past_sequence_length?",
      .outputs = {1, 2},
      .attributes = {{"num_heads", AttributeKind::kInt, true},
                     {"unidirectional", AttributeKind::kInt, false, 0},
                     {"scale", AttributeKind::kFloat},
                     {"mask_filter_value", AttributeKind::kFloat, false, -10000.0f},
                     {"qkv_hidden_sizes", AttributeKind::kInts},
                     {"do_rotary", AttributeKind::kInt},
                     {"rotary_embedding_dim", AttributeKind::kInt},
                     {"past_present_share_buffer", AttributeKind::kInt}},
      .expand = expand_merged_attention,
      .infer = infer_merged_attention,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 8], float32[8, 24], float32[24], int32[2]{2, 3}, float32[2, 2, 2, 0, 4]) {num_heads = 2, "
                 "unidirectional = 1} 2"
                 "(float32[1, 1, 2], float32[2, 3], float32[3]) {num_heads = 1}",
  };
}

}  // namespace svengine::ops
