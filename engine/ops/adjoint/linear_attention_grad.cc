// svengine.LinearAttentionGrad: the gradients of LinearAttention. Inputs: those of output and present_state, then LinearAttention's six;
// outputs: the gradients of these six, that of beta with every head of keys apart. The attributes are LinearAttention's.
//
// With D = exp(g) S_{t-1}, r = D'k, c = beta (v - r) and S_t = D + k c' (c = v where nothing is corrected), from the last token on:
//
//   dS += scale sum of q dy',  dq = scale S_t dy,   dk = dS c,  dc = dS' k
//   dv = beta dc,  dbeta = dc (v - r),  dk -= D dv,  dD = dS - k dv'            (not corrected: dv = dc, dD = dS)
//   dg = the sum of dD D,   dS = exp(g) dD
//
// One head of a sample is one task; the states of all its tokens are computed again first.
#include <algorithm>
#include <array>

#include "engine/ops/infer_util.h"
#include "engine/ops/like.h"
#include "engine/ops/language/linear_attention_common.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

enum LinearGradInput : size_t { kGradY, kGradPresent, kGradQuery, kGradKey, kGradValue, kGradPast, kGradDecay, kGradBeta };

Status infer_linear_attention_grad(InferContext& c) {
  SV_ASSIGN(const LinearTypes types, linear_types(c, kGradQuery));
  for (const size_t i : {kGradY, kGradPresent}) SV_TRY(require_dtype(c, i, {DType::f32, DType::f16, DType::bf16}));
  SV_TRY(require_shape(c, kGradY, types.output));
  SV_TRY(require_shape(c, kGradPresent, types.state));
  for (size_t i = 0; i < 5; ++i)
    if (c.has_input(i + kGradQuery)) c.set(i, c.type(i + kGradQuery));
    else c.set(i, c.type(i == 3 ? kGradPresent : kGradQuery));
  const Shape& q = c.shape(kGradQuery);
  const Dim heads(c.attributes().get_int("kv_num_heads", 1));
  c.set(5, c.dtype(kGradQuery), Shape{q.has_rank() ? q[0] : Dim(), q.has_rank() ? q[1] : Dim(), heads});
  return {};
}

/// One head of keys of one sample, everything at its first token; outputs as inputs. Null: not there.
struct LinearGradHead {
  const float *dy, *q, *k, *v, *past, *decay, *beta, *d_present;
  float *dq, *dk, *dv, *d_past, *d_decay, *d_beta;
};

/// Scratch of a task.
struct LinearGradWork {
  float *states;                     // S_t of all tokens, [tokens + 1][size][value_size]; the first is the past
  float *decayed, *d_state;          // D; dS and dD
  float *change, *rest, *d_change;   // c, v - r, dc and dv: [value_size]

  LinearGradWork(const LinearShape& s, float* memory) : states(memory) {
    const int64_t n = s.state_size();
    decayed = states + (s.tokens + 1) * n, d_state = decayed + n, change = d_state + n;
    rest = change + s.value_size, d_change = rest + s.value_size;
  }
  static int64_t bytes(const LinearShape& s) { return ((s.tokens + 3) * s.state_size() + 3 * s.value_size) * 4; }
};

/// D, v - r and c of a token whose state before is given.
void linear_change(const LinearShape& s, const LinearGradHead& h, const float* before, const LinearGradWork& w) {
  std::copy(before, before + s.state_size(), w.decayed);
  if (h.decay) decay_state(s, h.decay, w.decayed);
  std::copy(h.v, h.v + s.value_size, w.rest);
  for (int64_t i = 0; h.beta && i < s.size; ++i)
    for (int64_t j = 0; j < s.value_size; ++j) w.rest[j] -= h.k[i] * w.decayed[i * s.value_size + j];
  for (int64_t j = 0; j < s.value_size; ++j) w.change[j] = h.beta ? *h.beta * w.rest[j] : w.rest[j];
}

/// dS of what the token's queries read of `state`, and their gradients.
void linear_queries(const LinearShape& s, const LinearGradHead& h, const float* state, float* d_state) {
  for (int64_t head = 0; head < s.group(); ++head) {
    const float *q = h.q + head * s.size, *dy = h.dy + head * s.value_size;
    for (int64_t i = 0; i < s.size; ++i) {
      float sum = 0;
      for (int64_t j = 0; j < s.value_size; ++j) {
        d_state[i * s.value_size + j] += s.scale * q[i] * dy[j];
        sum += state[i * s.value_size + j] * dy[j];
      }
      h.dq[head * s.size + i] = s.scale * sum;
    }
  }
}

void linear_update(const LinearShape& s, const LinearGradHead& h, const LinearGradWork& w) {
  std::fill_n(w.d_change, s.value_size, 0.0f);
  for (int64_t i = 0; i < s.size; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < s.value_size; ++j) {
      sum += w.d_state[i * s.value_size + j] * w.change[j];
      w.d_change[j] += w.d_state[i * s.value_size + j] * h.k[i];
    }
    h.dk[i] = sum;
  }
  if (h.beta) {
    float sum = 0;
    for (int64_t j = 0; j < s.value_size; ++j) sum += w.d_change[j] * w.rest[j], w.d_change[j] *= *h.beta;
    *h.d_beta = sum;
    for (int64_t i = 0; i < s.size; ++i)
      for (int64_t j = 0; j < s.value_size; ++j) {
        h.dk[i] -= w.decayed[i * s.value_size + j] * w.d_change[j];
        w.d_state[i * s.value_size + j] -= h.k[i] * w.d_change[j];
      }
  }
  std::copy_n(w.d_change, s.value_size, h.dv);
  if (!h.decay) return;
  std::fill_n(h.d_decay, s.decay_size, 0.0f);
  for (int64_t i = 0; i < s.size; ++i) {
    float& d_decay = h.d_decay[s.decay_size == 1 ? 0 : i];
    for (int64_t j = 0; j < s.value_size; ++j) d_decay += w.d_state[i * s.value_size + j] * w.decayed[i * s.value_size + j];
  }
  decay_state(s, h.decay, w.d_state);
}

/// Forward for the states, and back.
void linear_head_gradient(const LinearShape& s, LinearGradHead h, const LinearGradWork& w) {
  const int64_t n = s.state_size(), keys = s.kv_heads * s.size, values = s.kv_heads * s.value_size;
  const auto move = [&](int64_t by) {
    h.dy += by * s.q_heads * s.value_size, h.q += by * s.q_heads * s.size, h.dq += by * s.q_heads * s.size;
    h.k += by * keys, h.dk += by * keys, h.v += by * values, h.dv += by * values;
    if (h.decay) h.decay += by * s.kv_heads * s.decay_size, h.d_decay += by * s.kv_heads * s.decay_size;
    if (h.beta) h.beta += by * s.beta_heads, h.d_beta += by * s.kv_heads;
  };
  if (h.past) std::copy_n(h.past, n, w.states);
  else std::fill_n(w.states, n, 0.0f);
  for (int64_t t = 0; t < s.tokens; ++t, move(1)) {
    float* after = w.states + (t + 1) * n;
    linear_change(s, h, w.states + t * n, w);
    for (int64_t i = 0; i < s.size; ++i)
      for (int64_t j = 0; j < s.value_size; ++j) after[i * s.value_size + j] = w.decayed[i * s.value_size + j] + h.k[i] * w.change[j];
  }
  std::copy_n(h.d_present, n, w.d_state);
  for (int64_t t = s.tokens - 1; t >= 0; --t) {
    move(-1);
    linear_queries(s, h, w.states + (t + 1) * n, w.d_state);
    linear_change(s, h, w.states + t * n, w);
    linear_update(s, h, w);
  }
  if (h.d_past) std::copy_n(w.d_state, n, h.d_past);
}

Status lower_linear_attention_grad(LowerContext& c) {
  const LinearShape s = linear_shape(c, c.in_dims(kGradQuery), c.in_dims(kGradPresent), kGradDecay, kGradBeta);
  c.emit(
      "linear_attention_grad", s.batch * s.kv_heads,
      [=, in = std::array{c.in(0), c.in(1), c.in(2), c.in(3), c.in(4), c.in(5), c.in(6), c.in(7)},
       out = std::array{c.out(0), c.out(1), c.out(2), c.out(3), c.out(4), c.out(5)}](const Run& run, int64_t begin,
                                                                                     int64_t end) -> const char* {
        const LinearGradWork work(s, run.scratch<float>());
        const auto at = [&](Buffer b, int64_t offset) { return b ? run.get<float>(b) + offset : nullptr; };
        for (int64_t task = begin; task < end; ++task) {
          const int64_t head = task % s.kv_heads, first = task / s.kv_heads * s.tokens, keys = first * s.kv_heads + head;
          const int64_t queries = first * s.q_heads + head * s.group(), state = task * s.state_size();
          const int64_t betas = first * s.beta_heads + (s.beta_heads == 1 ? 0 : head);
          LinearGradHead h;
          h.dy = at(in[kGradY], queries * s.value_size), h.d_present = at(in[kGradPresent], state);
          h.q = at(in[kGradQuery], queries * s.size), h.k = at(in[kGradKey], keys * s.size), h.v = at(in[kGradValue], keys * s.value_size);
          h.past = at(in[kGradPast], state);
          h.decay = s.decay_size ? at(in[kGradDecay], keys * s.decay_size) : nullptr;
          h.beta = s.beta_heads ? at(in[kGradBeta], betas) : nullptr;
          h.dq = at(out[0], queries * s.size), h.dk = at(out[1], keys * s.size), h.dv = at(out[2], keys * s.value_size);
          h.d_past = at(out[3], state), h.d_decay = at(out[4], keys * s.decay_size), h.d_beta = at(out[5], keys);
          linear_head_gradient(s, h, work);
        }
        return nullptr;
      },
      LinearGradWork::bytes(s));
  if (!s.decay_size) emit_zeros(c, 4);
  if (!s.beta_heads) emit_zeros(c, 5);
  return {};
}

}  // namespace

OpDef define_linear_attention_grad() {
  return {
      .name = "LinearAttentionGrad",
      .domain = kInternalDomain,
      .inputs = "dy, dpresent_state, query, key, value, past_state?, decay?, beta?",
      .outputs = {6, 6},
      .attributes = {{"q_num_heads", AttributeKind::kInt, true},
                     {"kv_num_heads", AttributeKind::kInt, true},
                     {"update_rule", AttributeKind::kString, false, "gated_delta"},
                     {"scale", AttributeKind::kFloat, false, 0.0f},
                     {"chunk_size", AttributeKind::kInt, false, 64}},
      .infer = infer_linear_attention_grad,
      .lower = lower_linear_attention_grad,
      .tolerance = {.rtol = 1e-4, .atol = 1e-5},
      .samples = "(float32[2, 5, 12], float32[2, 1, 4, 6], float32[2, 5, 8], float32[2, 5, 4], float32[2, 5, 6], float32[2, 1, 4, 6], "
                 "float32[2, 5, 4] -1 to 0, float32[2, 5, 1] 0 to 1) {q_num_heads = 2, kv_num_heads = 1} 6"
                 "(float32[2, 3, 8], float32[2, 2, 3, 4], float32[2, 3, 6], float32[2, 3, 6], float32[2, 3, 8]) {q_num_heads = 2, "
                 R"(kv_num_heads = 2, update_rule = "linear"} 6)",
  };
}

}  // namespace svengine::ops
