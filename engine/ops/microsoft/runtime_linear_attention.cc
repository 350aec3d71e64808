// com.microsoft.LinearAttention: as ai.onnx's, but heads of queries may be shared by several heads of values, and so may those of keys; each
// is repeated then. What the rule has no use for is not read.
#include "engine/ops/language/linear_attention_common.h"
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

enum RuntimeLinearInput : size_t { kRlQuery, kRlKey, kRlValue, kRlPast, kRlDecay, kRlBeta };

struct RuntimeLinearSizes {
  int64_t q_heads, k_heads, heads;  // of queries, keys and values
  int64_t size, value_size;
};

/// Unset where they are not known yet.
Result<std::optional<RuntimeLinearSizes>> runtime_linear_sizes(const Node& node) {
  RuntimeLinearSizes s{node.attributes.get_int("q_num_heads", 0), 0, node.attributes.get_int("kv_num_heads", 0), 0, 0};
  if (s.q_heads < 1 || s.heads < 1 || s.q_heads > INT32_MAX || s.heads > INT32_MAX || (s.q_heads % s.heads != 0 && s.heads % s.q_heads != 0))
    return error("q_num_heads {} and kv_num_heads {} must be at least 1, and one a multiple of the other", s.q_heads, s.heads);
  const auto last = [&](size_t i) { return node.input(i)->type.shape.has_rank() ? node.input(i)->type.shape.back() : Dim(); };
  const Dim query = last(kRlQuery), key = last(kRlKey), value = last(kRlValue);
  if (query.is_static() && query.value() % s.q_heads != 0) return error("query's {} elements cannot be cut into {} heads", query.value(), s.q_heads);
  if (value.is_static() && value.value() % s.heads != 0) return error("value's {} elements cannot be cut into {} heads", value.value(), s.heads);
  if (!query.is_static() || !key.is_static() || !value.is_static()) return std::optional<RuntimeLinearSizes>();
  s.size = query.value() / s.q_heads, s.value_size = value.value() / s.heads;
  if (s.size < 1 || key.value() < 1 || key.value() % s.size != 0 || s.heads % (key.value() / s.size) != 0)
    return error("key's {} elements are no heads of {} that {} heads can share", key.value(), s.size, s.heads);
  s.k_heads = key.value() / s.size;
  return std::optional(s);
}

/// Behind [batch, tokens], one of those.
Status require_tokens(const InferContext& c, size_t input, std::initializer_list<Dim> allowed) {
  SV_TRY(require_rank(c, input, 3));
  if (!c.has_input(input) || !c.shape(input).has_rank()) return {};
  const Shape &query = c.shape(kRlQuery), &shape = c.shape(input);
  for (size_t d = 0; query.has_rank() && d < 2; ++d)
    if (known_different(query[d], shape[d]))
      return error("{} {} and query {} need the same first two dimensions", c.described(input), to_string(shape), to_string(query));
  if (std::all_of(allowed.begin(), allowed.end(), [&](const Dim& d) { return known_different(d, shape[2]); }))
    return error("{} is {}, its last dimension must be {}", c.described(input), to_string(shape), to_string(Shape(std::vector<Dim>(allowed))));
  return {};
}

Status infer_runtime_linear(InferContext& c) {
  SV_ASSIGN(const LinearRule rule, linear_rule(c.attributes()));
  if (c.attributes().get_int("state_window", 0) != 0) return unimplemented("state_window is not supported");
  if (rule.decays && !c.has_input(kRlDecay)) return error("this update_rule needs input decay");
  if (rule.corrects && !c.has_input(kRlBeta)) return error("this update_rule needs input beta");
  for (const size_t i : {kRlQuery, kRlKey, kRlValue}) SV_TRY(require_tokens(c, i, {Dim()}));
  SV_ASSIGN(const std::optional<RuntimeLinearSizes> s, runtime_linear_sizes(c.node()));
  const int64_t q_heads = c.attributes().get_int("q_num_heads", 1), heads = c.attributes().get_int("kv_num_heads", 1);
  const Shape query = c.shape(kRlQuery).has_rank() ? c.shape(kRlQuery) : unknown_dims(3);
  const Shape state{query[0], Dim(heads), s ? Dim(s->size) : Dim(), s ? Dim(s->value_size) : Dim()};
  SV_TRY(require_shape(c, kRlPast, state));
  SV_TRY(require_tokens(c, kRlDecay, {Dim(heads), multiply(Dim(heads), state[2])}));
  SV_TRY(require_tokens(c, kRlBeta, {Dim(heads), Dim(1)}));
  c.set(0, c.dtype(0), Shape{query[0], query[1], multiply(Dim(std::max(q_heads, heads)), state[3])});
  c.set(1, c.has_input(kRlPast) ? c.dtype(kRlPast) : c.dtype(0), state);
  return {};
}

Value* repeated(ExpandContext& c, Value* v, int64_t heads, int64_t size, int64_t times) {
  if (times <= 1) return v;
  return c.reshape(c.op("Expand", {c.reshape(v, {0, 0, heads, 1, size}), c.ints({1, 1, 1, times, 1})}), {0, 0, heads * times * size});
}

Status expand_runtime_linear(ExpandContext& c) {
  SV_ASSIGN(const LinearRule rule, linear_rule(c.attributes()));
  SV_ASSIGN(const std::optional<RuntimeLinearSizes> s, runtime_linear_sizes(c.node()));
  if (!s) return {};
  std::vector<Value*> inputs{repeated(c, c.input(kRlQuery), s->q_heads, s->size, s->heads / s->q_heads),
                             repeated(c, c.input(kRlKey), s->k_heads, s->size, s->heads / s->k_heads), c.input(kRlValue), c.input(kRlPast)};
  if (rule.decays) inputs.push_back(c.input(kRlDecay));
  if (rule.corrects) inputs.resize(5, nullptr), inputs.push_back(c.input(kRlBeta));
  if (!c.builder().status().ok()) return {};
  while (!inputs.back()) inputs.pop_back();
  const Node* node = c.builder().node("", "LinearAttention", std::move(inputs), 2,
                                      make_attributes({{"q_num_heads", std::max(s->q_heads, s->heads)}, {"kv_num_heads", s->heads},
                                                       {"update_rule", c.attributes().get_string("update_rule", "gated_delta")},
                                                       {"scale", c.attributes().get_float("scale", 0.0f)}}));
  if (!node) return {};
  c.set(0, node->output(0)), c.set(1, node->output(1));
  return {};
}

}  // namespace

OpDef define_microsoft_linear_attention() {
  return {
      .name = "LinearAttention",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "query, key, value, past_state?, decay?, beta?",
      .outputs = {2, 2},
      .attributes = {{"q_num_heads", AttributeKind::kInt, true},
                     {"kv_num_heads", AttributeKind::kInt, true},
                     {"update_rule", AttributeKind::kString, false, "gated_delta"},
                     {"scale", AttributeKind::kFloat, false, 0.0f},
                     {"chunk_size", AttributeKind::kInt, false, 64},
                     {"state_window", AttributeKind::kInt, false, 0}},
      .expand = expand_runtime_linear,
      .infer = infer_runtime_linear,
      .types = {{"T", kSingleTypes, {kRlQuery, kRlKey, kRlValue, kRlDecay, kRlBeta}}, {"S", kSingleTypes, {kRlPast}}},
      .tolerance = {.rtol = 1e-4, .atol = 1e-5},
      .samples = "(float32[2, 5, 8], float32[2, 5, 4], float32[2, 5, 6], float32[2, 1, 4, 6], float32[2, 5, 4] -1 to 0, "
                 "float32[2, 5, 1] 0 to 1) {q_num_heads = 2, kv_num_heads = 1} 2"
                 "(float32[1, 4, 3], float32[1, 4, 3], float32[1, 4, 4], -, -, float32[1, 4, 2] 0 to 1) {q_num_heads = 1, kv_num_heads = 2, "
                 R"(update_rule = "delta"} 2)"
                 "(float32[2, 3, 4], float32[2, 3, 8], float32[2, 3, 12], float32[2, 4, 2, 3], float32[2, 3, 4] -1 to 0) {q_num_heads = 2, "
                 R"(kv_num_heads = 4, update_rule = "gated"} 2)",
  };
}

}  // namespace svengine::ops
