// com.microsoft.GatedDeltaNet: its LinearAttention, whose gates are made here, of tokens of all sequences one behind another.
//
// Several value heads share a head of queries and keys; the state [value size, key size] of each is float32. Sequences are of one length
// (tokens / batch of initial_state), or as cu_seqlens says; then they are padded with tokens whose key, decay and beta are 0, which leave
// the state as it is.
#include "engine/ops/language/linear_attention_common.h"
#include "engine/ops/microsoft/packed_tokens_common.h"

namespace svengine::ops {
namespace {

enum DeltaInput : size_t { kGdQuery, kGdKey, kGdValue, kGdCumulative, kGdDecay, kGdBeta, kGdState, kGdLog, kGdBias, kGdCapture, kGdActive };

struct DeltaSizes {
  int64_t heads, value_heads, size, value_size;
  int64_t leading;  // dimensions of tokens: 1, or 2 as [batch, tokens]
};

/// The last two dimensions of an input, where they are known.
std::optional<std::pair<int64_t, int64_t>> head_dims(const Shape& s) {
  if (!s.has_rank() || s.rank() < 2 || !s.back().is_static() || !s[s.rank() - 2].is_static()) return std::nullopt;
  return std::pair(s[s.rank() - 2].value(), s.back().value());
}

/// Queries, keys and values beside one another in the last dimension of input 0.
Result<std::optional<DeltaSizes>> merged_sizes(const Shape& query, const Shape& state) {
  if (query.rank() != 2 && query.rank() != 3)
    return error("query is {}, without key and value it needs [tokens, all] or [batch, tokens, all]", to_string(query));
  if (!state.is_static() || !query.back().is_static()) return std::optional<DeltaSizes>();
  DeltaSizes s{0, state[1].value(), state[3].value(), state[2].value(), query.rank() - 1};
  const int64_t rest = query.back().value() - s.value_heads * s.value_size;
  if (s.size < 1 || rest < 1 || rest % (2 * s.size) != 0)
    return error("query is {}: with {} value heads of {} elements no queries and keys of {} elements fit its last dimension", to_string(query),
                 s.value_heads, s.value_size, s.size);
  s.heads = rest / 2 / s.size;
  return std::optional(s);
}

/// Unset where they are not known yet.
Result<std::optional<DeltaSizes>> delta_sizes(const Node& node) {
  const auto shape = [&](size_t i) { return node.input(i) ? node.input(i)->type.shape : Shape(); };
  const Shape query = shape(kGdQuery);
  if (!query.has_rank()) return std::optional<DeltaSizes>();
  std::optional<DeltaSizes> s;
  if (!node.input(kGdKey)) {
    SV_ASSIGN(s, merged_sizes(query, shape(kGdState)));
  } else {
    if (query.rank() != 3 && query.rank() != 4)
      return error("query is {}, needs [tokens, heads, size] or [batch, tokens, heads, size]", to_string(query));
    const auto q = head_dims(query), k = head_dims(shape(kGdKey)), v = head_dims(shape(kGdValue));
    if (!q || !k || !v) return std::optional<DeltaSizes>();
    if (*q != *k) return error("key {} needs heads as query {} has", to_string(shape(kGdKey)), to_string(query));
    s = DeltaSizes{q->first, v->first, q->second, v->second, query.rank() - 2};
  }
  if (s && (s->heads < 1 || s->value_heads < 1 || s->size < 1 || s->value_heads % s->heads != 0))
    return error("{} heads of values cannot share {} heads of keys of {} elements", s->value_heads, s->heads, s->size);
  return s;
}

Status check_delta_attributes(const InferContext& c, const LinearRule& rule) {
  const Attributes& a = c.attributes();
  const std::string gate = a.get_string("gate_activation", "none"), beta = a.get_string("beta_activation", "none");
  if (gate != "none" && gate != "softplus" && gate != "qwen" && gate != "sigmoid" && gate != "kda")
    return error("gate_activation is '{}', must be none, softplus or sigmoid", gate);
  if (beta != "none" && beta != "sigmoid") return error("beta_activation is '{}', must be none or sigmoid", beta);
  if (a.get_int("state_update_capacity", 0) != 0 || c.has_output(2))
    return unimplemented("state_update_capacity and output state_update are not supported");
  if (c.has_input(kGdCapture)) return error("capture_count needs a state_update_capacity above 0");
  if (c.has_input(kGdKey) != c.has_input(kGdValue)) return error("key and value must be given together, or query holds all three");
  if (!c.has_input(kGdKey) && !c.has_input(kGdState)) return error("initial_state is required where query holds keys and values, too");
  if (rule.decays && !c.has_input(kGdDecay)) return error("this update_rule needs input decay");
  if (rule.corrects && !c.has_input(kGdBeta)) return error("this update_rule needs input beta");
  if (rule.decays && gate != "none" && (!c.has_input(kGdLog) || !c.has_input(kGdBias)))
    return error("gate_activation '{}' needs a_log and dt_bias", gate);
  return {};
}

/// Decay's dimensions behind those of tokens: one (of heads), or two (and of keys' elements).
Status check_delta_gates(const InferContext& c, const DeltaSizes& s) {
  for (const size_t i : {kGdDecay, kGdBeta}) {
    if (!c.has_input(i) || !c.shape(i).has_rank()) continue;
    const Shape& shape = c.shape(i);
    const auto at = static_cast<size_t>(s.leading);
    const bool heads = shape.rank() == s.leading + 1 && !known_different(shape[at], Dim(s.value_heads));
    const bool elements = i == kGdDecay && shape.rank() == s.leading + 2 && !known_different(shape[at], Dim(s.value_heads)) &&
                          !known_different(shape[at + 1], Dim(s.size));
    if (!heads && !elements)
      return error("{} is {}, needs [{}, {}]{}", i == kGdDecay ? "decay" : "beta", to_string(shape), s.leading == 1 ? "tokens" : "batch, tokens",
                   s.value_heads, i == kGdDecay ? fmt::format(", or {} behind that", s.size) : "");
  }
  return {};
}

Status infer_gated_delta(InferContext& c) {
  SV_ASSIGN(const LinearRule rule, linear_rule(c.attributes()));
  SV_TRY(check_delta_attributes(c, rule));
  SV_TRY(require_rank(c, kGdState, 4));
  SV_ASSIGN(Dim batch, packed_batch(c, kGdCumulative, c.shape(0).has_rank() && c.shape(0).rank() > 0 ? c.shape(0)[0] : Dim()));
  SV_ASSIGN(const std::optional<DeltaSizes> s, delta_sizes(c.node()));
  c.set(0, c.dtype(0), Shape());
  c.set(1, DType::f32, unknown_dims(4));
  if (!s) return {};
  const Shape& query = c.shape(0);
  std::vector<Dim> dims(query.dims().begin(), query.dims().begin() + s->leading);
  if (s->leading == 2 && c.has_input(kGdCumulative))
    return error("cu_seqlens needs tokens of all sequences one behind another; query is {}", to_string(query));
  if (s->leading == 2) batch = dims[0];
  if (!c.has_input(kGdCumulative) && s->leading == 1) {
    if (!c.has_input(kGdState)) return error("without cu_seqlens initial_state is required: it says how many sequences there are");
    batch = c.shape(kGdState).has_rank() ? c.shape(kGdState)[0] : Dim();
    if (batch.is_static() && dims[0].is_static() && (batch.value() < 1 || dims[0].value() % batch.value() != 0))
      return error("{} tokens cannot be cut into {} sequences", dims[0].value(), batch.value());
  }
  const Shape state{batch, Dim(s->value_heads), Dim(s->value_size), Dim(s->size)};
  SV_TRY(require_shape(c, kGdState, state));
  SV_TRY(check_delta_gates(c, *s));
  dims.insert(dims.end(), {Dim(s->value_heads), Dim(s->value_size)});
  c.set(0, c.dtype(0), Shape(std::move(dims)));
  c.set(1, DType::f32, state);
  return {};
}

/// Tokens as [batch, tokens, width] in float32.
class DeltaTokens {
 public:
  DeltaTokens(ExpandContext& c, const DeltaSizes& s) : c_(c), leading_(s.leading) {
    if (c.has_input(kGdCumulative)) packed_.emplace(c, c.input(kGdCumulative), c.input(kGdQuery));
  }
  Value* of(Value* v, int64_t width) const {
    v = c_.cast(v, DType::f32);
    if (packed_) return packed_->padded(c_.reshape(v, {-1, width}));
    return c_.reshape(v, {leading_ == 2 ? 0 : *c_.dim(kGdState, 0), leading_ == 2 ? 0 : -1, width});
  }
  Value* back(Value* v, const DeltaSizes& s) const {
    if (packed_) v = packed_->packed(v, s.value_heads * s.value_size);
    return leading_ == 2 ? c_.reshape(v, {0, 0, s.value_heads, s.value_size}) : c_.reshape(v, {-1, s.value_heads, s.value_size});
  }

 private:
  ExpandContext& c_;
  int64_t leading_;
  std::optional<PackedTokens> packed_;
};

/// Heads of queries or keys, of length 1 with qk_l2_norm.
Value* normalised_heads(ExpandContext& c, const DeltaSizes& s, Value* v) {
  if (c.attributes().get_int("qk_l2_norm", 0) == 0) return v;
  v = c.reshape(v, {0, 0, s.heads, s.size});
  Value* squares = c.op("ReduceSum", {c.op("Mul", {v, v}), c.ints({-1})});
  v = c.op("Div", {v, c.op("Sqrt", {c.op("Add", {squares, c.number(1e-12, DType::f32)})})});  // as ONNX Runtime; the specification has no number
  return c.reshape(v, {0, 0, s.heads * s.size});
}

/// The logarithm of what the state is multiplied by, [.., heads * (1 or size)], before tokens are padded: padding must stay 0.
Value* delta_decay(ExpandContext& c, const DeltaSizes& s, int64_t each) {
  const std::string gate = c.attributes().get_string("gate_activation", "none");
  Value* decay = c.cast(c.input(kGdDecay), DType::f32);
  if (gate == "none") return decay;
  const auto like_input = [&](Value* v) { return c.reshape_like(v, c.input(kGdDecay)); };
  decay = c.reshape(decay, {-1, s.value_heads, each});
  const int64_t of_bias = element_count(*c.shape(kGdBias).concrete()) == s.value_heads ? 1 : each;
  Value* raw = c.op("Add", {decay, c.reshape(c.input(kGdBias), {s.value_heads, of_bias})});
  Value* rate = c.op("Exp", {c.reshape(c.input(kGdLog), {s.value_heads, 1})});
  if (gate == "softplus" || gate == "qwen") return like_input(c.op("Mul", {c.op("Neg", {rate}), c.op("Softplus", {raw})}));
  const float bound = c.attributes().get_float("gate_lower_bound", -5.0f);
  return like_input(c.op("Mul", {c.number(bound, DType::f32), c.op("Sigmoid", {c.op("Mul", {rate, raw})})}));
}

Value* delta_beta(ExpandContext& c) {
  Value* beta = c.cast(c.input(kGdBeta), DType::f32);
  return c.attributes().get_string("beta_activation", "none") == "sigmoid" ? c.op("Sigmoid", {beta}) : beta;
}

struct DeltaParts {
  Value *q, *k, *v;
};

DeltaParts delta_parts(ExpandContext& c, const DeltaSizes& s) {
  if (c.has_input(kGdKey)) return {c.input(kGdQuery), c.input(kGdKey), c.input(kGdValue)};
  const int64_t keys = s.heads * s.size;
  const Node* parts = c.builder().node("", "Split", {c.input(kGdQuery), c.ints({keys, keys, s.value_heads * s.value_size})}, 3,
                                       make_attributes({{"axis", int64_t{-1}}}));
  return parts ? DeltaParts{parts->output(0), parts->output(1), parts->output(2)} : DeltaParts{};
}

Status expand_gated_delta(ExpandContext& c) {
  SV_ASSIGN(const LinearRule rule, linear_rule(c.attributes()));
  SV_ASSIGN(const std::optional<DeltaSizes> s, delta_sizes(c.node()));
  const bool uniform = s && s->leading == 1 && !c.has_input(kGdCumulative);
  if (!s || (uniform && !c.dim(kGdState, 0)) || (rule.decays && !c.shape(kGdDecay).has_rank()) ||
      (c.has_input(kGdBias) && !c.shape(kGdBias).is_static()))
    return {};
  const DeltaTokens tokens(c, *s);
  const DeltaParts parts = delta_parts(c, *s);
  std::vector<Value*> inputs{normalised_heads(c, *s, tokens.of(parts.q, s->heads * s->size)),
                             normalised_heads(c, *s, tokens.of(parts.k, s->heads * s->size)), tokens.of(parts.v, s->value_heads * s->value_size),
                             c.has_input(kGdState) ? c.transpose(c.input(kGdState), {0, 1, 3, 2}) : nullptr};
  if (rule.decays) {
    const int64_t each = c.shape(kGdDecay).rank() == s->leading + 2 ? s->size : 1;
    inputs.push_back(tokens.of(delta_decay(c, *s, each), s->value_heads * each));
  }
  if (rule.corrects) {
    inputs.resize(5, nullptr);
    inputs.push_back(tokens.of(delta_beta(c), s->value_heads));
  }
  if (!c.builder().status().ok()) return {};
  while (!inputs.back()) inputs.pop_back();
  const Node* node = c.builder().node(kMicrosoftDomain, "LinearAttention", std::move(inputs), 2,
                                      make_attributes({{"q_num_heads", s->heads}, {"kv_num_heads", s->value_heads},
                                                       {"update_rule", c.attributes().get_string("update_rule", "gated_delta")},
                                                       {"scale", c.attributes().get_float("scale", 0.0f)}}));
  if (!node) return {};
  c.set(0, c.cast(tokens.back(node->output(0), *s), c.dtype(0)));
  if (c.has_output(1)) c.set(1, c.transpose(node->output(1), {0, 1, 3, 2}));
  return {};
}

}  // namespace

OpDef define_microsoft_gated_delta_net() {
  return {
      .name = "GatedDeltaNet",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "query, key?, value?, cu_seqlens?, decay?, beta?, initial_state?, a_log?, dt_bias?, capture_count?, state_update_active?",
      .outputs = {1, 3},
      .attributes = {{"update_rule", AttributeKind::kString, false, "gated_delta"},
                     {"gate_activation", AttributeKind::kString, false, "none"},
                     {"beta_activation", AttributeKind::kString, false, "none"},
                     {"qk_l2_norm", AttributeKind::kInt, false, 0},
                     {"gate_lower_bound", AttributeKind::kFloat, false, -5.0f},
                     {"scale", AttributeKind::kFloat, false, 0.0f},
                     {"chunk_size", AttributeKind::kInt, false, 64},
                     {"state_update_capacity", AttributeKind::kInt, false, 0}},
      .expand = expand_gated_delta,
      .infer = infer_gated_delta,
      .types = {{"T", kSingleTypes, {kGdQuery, kGdKey, kGdValue}},
                {"TI", {DType::i32}, {kGdCumulative, kGdCapture, kGdActive}},
                {"TG", kSingleTypes, {kGdDecay, kGdBeta}},
                {"TS", {DType::f32}, {kGdState, kGdLog, kGdBias}}},
      .tolerance = {.rtol = 1e-4, .atol = 1e-5},
      .samples =
          "(float32[6, 2, 4], float32[6, 2, 4], float32[6, 4, 3], -, float32[6, 4] -1 to 0, float32[6, 4] 0 to 1, float32[2, 4, 3, 4]) {qk_l2_norm = "
          "1} 2"
          "(float32[7, 1, 4], float32[7, 1, 4], float32[7, 2, 3], int32[4]{0, 2, 3, 7}, float32[7, 2, 4], float32[7, 2], float32[3, 2, 3, 4], "
          R"(float32[2], float32[2, 4]) {qk_l2_norm = 1, gate_activation = "softplus", beta_activation = "sigmoid"} 2)"
          R"((float32[2, 3, 14], -, -, -, -, -, float32[2, 2, 3, 4]) {update_rule = "linear"} 2)",
  };
}

}  // namespace svengine::ops
