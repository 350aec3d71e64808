// LinearAttention: a recurrence over tokens with a matrix S [key size, value size] for each head of keys,
//
//   S_t = exp(g_t) S_{t-1} + beta_t k_t (v_t - exp(g_t) S_{t-1}' k_t)',   o_t = scale S_t' q_t
//
// where rules "linear" and "gated" have no beta (and add k_t v_t'), "linear" and "delta" no decay g. Several heads of queries may
// share a head of keys. Inputs are [batch, tokens, heads * size]. One head of a sample is one task: tokens depend on each other.
#include <cmath>
#include <cstring>

#include "engine/graph/gradient.h"
#include "engine/ops/language/attention_common.h"
#include "engine/ops/language/linear_attention_common.h"

namespace svengine::ops {

Result<LinearRule> linear_rule(const Attributes& attributes) {
  const std::string name = attributes.get_string("update_rule", "gated_delta");
  if (name == "linear") return LinearRule{false, false};
  if (name == "gated") return LinearRule{true, false};
  if (name == "delta") return LinearRule{false, true};
  if (name == "gated_delta") return LinearRule{true, true};
  return error("update_rule is '{}', must be linear, gated, delta or gated_delta", name);
}

LinearShape linear_shape(const LowerContext& c, const Dims& q, const Dims& state, size_t decay, size_t beta) {
  LinearShape s;
  s.batch = q[0], s.tokens = q[1];
  s.q_heads = c.attributes().get_int("q_num_heads", 1), s.kv_heads = state[1], s.size = state[2], s.value_size = state[3];
  const LinearRule rule = linear_rule(c.attributes()).value();
  s.decay_size = rule.decays ? c.in_dims(decay)[2] / s.kv_heads : 0;
  s.beta_heads = rule.corrects ? c.in_dims(beta)[2] : 0;
  s.scale = c.attributes().get_float("scale", 0);
  if (s.scale == 0) s.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s.size)));
  return s;
}

void decay_state(const LinearShape& s, const float* decay, float* state) {
  for (int64_t i = 0; i < s.size; ++i) {
    const float factor = std::exp(decay[s.decay_size == 1 ? 0 : i]);
    for (int64_t j = 0; j < s.value_size; ++j) state[i * s.value_size + j] *= factor;
  }
}

namespace {

enum LinearInput : size_t { kLinearQuery, kLinearKey, kLinearValue, kLinearPast, kLinearDecay, kLinearBeta };

Status check_linear_inputs(const InferContext& c, size_t first) {
  SV_ASSIGN(const LinearRule rule, linear_rule(c.attributes()));
  const Shape& query = c.shape(first);
  for (size_t i = 0; i < 6; ++i) {
    const size_t at = first + i;
    SV_TRY(require_dtype(c, at, {DType::f32, DType::f16, DType::bf16}));
    SV_TRY(require_rank(c, at, i == kLinearPast ? 4 : 3));
    if (i == kLinearPast || !c.has_input(at)) continue;
    if (c.dtype(at) != c.dtype(first))
      return error("{} is {}, must be {} as query is", c.described(at), name_of(c.dtype(at)), name_of(c.dtype(first)));
    for (size_t d = 0; d < 2; ++d)
      if (query.has_rank() && c.shape(at).has_rank() && known_different(query[d], c.shape(at)[d]))
        return error("{} {} and query {} need the same first two dimensions", c.described(at), to_string(c.shape(at)), to_string(query));
  }
  if (rule.decays && !c.has_input(first + kLinearDecay)) return error("this update_rule needs {}", c.described(first + kLinearDecay));
  if (rule.corrects && !c.has_input(first + kLinearBeta)) return error("this update_rule needs {}", c.described(first + kLinearBeta));
  if (!rule.decays && c.has_input(first + kLinearDecay)) return error("this update_rule takes no {}", c.described(first + kLinearDecay));
  if (!rule.corrects && c.has_input(first + kLinearBeta)) return error("this update_rule takes no {}", c.described(first + kLinearBeta));
  return {};
}

/// The size of one of `heads` heads in the last dimension of an input.
Result<Dim> linear_head(const InferContext& c, size_t input, int64_t heads) {
  const Shape& shape = c.shape(input);
  if (!shape.has_rank() || !shape[2].is_static()) return Dim();
  if (shape[2].value() % heads != 0) return error("{} {} cannot be cut into {} heads", c.described(input), to_string(shape), heads);
  return Dim(shape[2].value() / heads);
}

Status check_last(const InferContext& c, size_t input, std::initializer_list<Dim> allowed) {
  if (!c.has_input(input) || !c.shape(input).has_rank()) return {};
  std::string list;
  for (const Dim& d : allowed) {
    if (!known_different(d, c.shape(input)[2])) return {};
    list += fmt::format("{}{}", list.empty() ? "" : " or ", d.value());
  }
  return error("{} is {}, its last dimension must be {}", c.described(input), to_string(c.shape(input)), list);
}

}  // namespace

Result<LinearTypes> linear_types(const InferContext& c, size_t first) {
  SV_TRY(check_linear_inputs(c, first));
  const Shape &query = c.shape(first + kLinearQuery), &past = c.has_input(first + kLinearPast) ? c.shape(first + kLinearPast) : query;
  const int64_t q_heads = c.attributes().get_int("q_num_heads", 0), kv_heads = c.attributes().get_int("kv_num_heads", 0);
  if (q_heads < 1 || kv_heads < 1 || q_heads % kv_heads != 0)
    return error("q_num_heads {} must be a multiple of kv_num_heads {}, both at least 1", q_heads, kv_heads);
  SV_ASSIGN(const Dim size, linear_head(c, first + kLinearQuery, q_heads));
  SV_ASSIGN(const Dim key, linear_head(c, first + kLinearKey, kv_heads));
  SV_ASSIGN(const Dim value, linear_head(c, first + kLinearValue, kv_heads));
  if (known_different(size, key)) return error("heads of query have {} elements, those of key {}", size.value(), key.value());
  const Dim both = merge(size, key);
  SV_TRY(check_last(c, first + kLinearDecay, {multiply(Dim(kv_heads), both), Dim(kv_heads)}));
  SV_TRY(check_last(c, first + kLinearBeta, {Dim(kv_heads), Dim(1)}));
  const Dim batch = query.has_rank() ? query[0] : Dim(), tokens = query.has_rank() ? query[1] : Dim();
  const Shape state{batch, Dim(kv_heads), both, value};
  if (c.has_input(first + kLinearPast) && past.has_rank())
    for (size_t d = 0; d < 4; ++d)
      if (known_different(past[d], state[d])) return error("past_state is {}, needs {}", to_string(past), to_string(state));
  return LinearTypes{Shape{batch, tokens, multiply(Dim(q_heads), value)}, state};
}

namespace {

Status infer_linear_attention(InferContext& c) {
  SV_ASSIGN(const LinearTypes types, linear_types(c, 0));
  c.set(0, c.dtype(0), types.output);
  c.set(1, c.has_input(kLinearPast) ? c.dtype(kLinearPast) : c.dtype(0), types.state);
  return {};
}

/// Where the data of one head of keys of one sample begin, all at its first token.
struct LinearHead {
  const float *q, *k, *v, *decay, *beta;
  float *y, *state, *change;  // change: [value_size], scratch
};

/// change := v, or beta (v - S' k)
void change_of_state(const LinearShape& s, const LinearHead& h, float* change) {
  std::copy(h.v, h.v + s.value_size, change);
  if (!h.beta) return;
  for (int64_t i = 0; i < s.size; ++i)
    for (int64_t j = 0; j < s.value_size; ++j) change[j] -= h.k[i] * h.state[i * s.value_size + j];
  for (int64_t j = 0; j < s.value_size; ++j) change[j] *= *h.beta;
}

void linear_token(const LinearShape& s, const LinearHead& h) {
  if (h.decay) decay_state(s, h.decay, h.state);
  change_of_state(s, h, h.change);
  for (int64_t i = 0; i < s.size; ++i)
    for (int64_t j = 0; j < s.value_size; ++j) h.state[i * s.value_size + j] += h.k[i] * h.change[j];
  for (int64_t head = 0; head < s.q_heads / s.kv_heads; ++head) {
    const float* q = h.q + head * s.size;
    float* y = h.y + head * s.value_size;
    std::fill(y, y + s.value_size, 0.0f);
    for (int64_t i = 0; i < s.size; ++i)
      for (int64_t j = 0; j < s.value_size; ++j) y[j] += q[i] * h.state[i * s.value_size + j];
    for (int64_t j = 0; j < s.value_size; ++j) y[j] *= s.scale;
  }
}

void linear_head_run(const LinearShape& s, LinearHead h) {
  for (int64_t t = 0; t < s.tokens; ++t) {
    linear_token(s, h);
    h.q += s.q_heads * s.size, h.k += s.kv_heads * s.size, h.v += s.kv_heads * s.value_size, h.y += s.q_heads * s.value_size;
    if (h.decay) h.decay += s.kv_heads * s.decay_size;
    if (h.beta) h.beta += s.beta_heads;
  }
}

Status lower_linear_attention(LowerContext& c) {
  const LinearShape s = linear_shape(c, c.in_dims(0), c.out_dims(1), kLinearDecay, kLinearBeta);
  const int64_t state_size = s.size * s.value_size;
  const auto run_heads = [=, q = c.in(0), k = c.in(1), v = c.in(2), past = c.in(3), decay = c.in(4), beta = c.in(5), y = c.out(0),
                          present = c.out(1)](const Run& run, int64_t begin, int64_t end) -> const char* {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t b = task / s.kv_heads, head = task % s.kv_heads, first = b * s.tokens;
      LinearHead h;
      h.q = run.get<const float>(q) + (first * s.q_heads + head * (s.q_heads / s.kv_heads)) * s.size;
      h.k = run.get<const float>(k) + (first * s.kv_heads + head) * s.size;
      h.v = run.get<const float>(v) + (first * s.kv_heads + head) * s.value_size;
      h.decay = s.decay_size ? run.get<const float>(decay) + (first * s.kv_heads + head) * s.decay_size : nullptr;
      h.beta = s.beta_heads ? run.get<const float>(beta) + first * s.beta_heads + (s.beta_heads == 1 ? 0 : head) : nullptr;
      h.y = run.get<float>(y) + (first * s.q_heads + head * (s.q_heads / s.kv_heads)) * s.value_size;
      h.state = run.get<float>(present) + task * state_size;
      h.change = run.scratch<float>();
      const float* before = run.get<const float>(past);
      if (before)
        std::copy(before + task * state_size, before + (task + 1) * state_size, h.state);
      else
        std::fill(h.state, h.state + state_size, 0.0f);
      linear_head_run(s, h);
    }
    return nullptr;
  };
  c.emit("linear_attention", s.batch * s.kv_heads, run_heads, s.value_size * static_cast<int64_t>(sizeof(float)));
  return {};
}

/// svengine.LinearAttentionGrad has the gradients of all inputs; beta that heads share gets their sum.
Status linear_attention_gradient(GradientContext& c) {
  Value* present = c.output(1);
  const auto seed = [&](size_t i, Value* like) { return c.output_gradient(i) ? c.output_gradient(i) : c.zeros_like(like); };
  std::vector<Value*> inputs{seed(0, c.output(0)), seed(1, present)};
  for (size_t i = 0; i < 6; ++i) inputs.push_back(c.input(i));
  const Node* grad = c.builder().node(kInternalDomain, "LinearAttentionGrad", std::move(inputs), 6, c.attributes());
  SV_ASSIGN(const LinearRule rule, linear_rule(c.attributes()));
  const auto is_read = [&](size_t i) { return i == kLinearDecay ? rule.decays : i != kLinearBeta || rule.corrects; };
  for (size_t i = 0; grad && i < 6; ++i)
    if (c.wants(i) && is_read(i)) c.set(i, i == kLinearBeta ? c.sum_to(grad->output(i), c.input(i)) : grad->output(i));
  return {};
}

}  // namespace

OpDef define_linear_attention() {
  return {
      .name = "LinearAttention",
      .since = 27,
      .until = 28,
      .inputs = "query, key, value, past_state?, decay?, beta?",
      .outputs = {2, 2},
      .attributes = {{"q_num_heads", AttributeKind::kInt, true},
                     {"kv_num_heads", AttributeKind::kInt, true},
                     {"update_rule", AttributeKind::kString, false, "gated_delta"},
                     {"scale", AttributeKind::kFloat, false, 0.0f},
                     {"chunk_size", AttributeKind::kInt, false, 64}},
      .infer = infer_linear_attention,
      .lower = lower_linear_attention,
      .gradient = linear_attention_gradient,
      .tolerance = {.rtol = 1e-4, .atol = 1e-5},
      .samples = "(float32[2, 5, 8], float32[2, 5, 4], float32[2, 5, 6], float32[2, 1, 4, 6], float32[2, 5, 4] -1 to 0, "
                 "float32[2, 5, 1] 0 to 1) {q_num_heads = 2, kv_num_heads = 1} 2"
                 "(float32[1, 4, 6], float32[1, 4, 6], float32[1, 4, 4], float32[1, 2, 3, 2], float32[1, 4, 6] -1 to 0, "
                 "float32[1, 4, 2] 0 to 1) {q_num_heads = 2, kv_num_heads = 2} 2"
                 "(float32[2, 3, 4], float32[2, 3, 4], float32[2, 3, 6], float32[2, 2, 2, 3], float32[2, 3, 2] -1 to 0) {q_num_heads = 2, "
                 R"(kv_num_heads = 2, update_rule = "gated"} 2)"
                 R"((float32[1, 3, 6], float32[1, 3, 6], float32[1, 3, 4]) {q_num_heads = 2, kv_num_heads = 2, update_rule = "linear"} 2)",
  };
}

}  // namespace svengine::ops
