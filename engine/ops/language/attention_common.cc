#include "engine/ops/language/attention_common.h"

#include <limits>

namespace svengine::ops {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// The query heads that share keys are one head of more queries: rows of [B, q_heads, L, n] as [B, kv_heads, group * L, n]. No
/// copy.
Value* grouped(ExpandContext& c, Value* v, int64_t kv_heads) {
  return c.reshape(v, {0, kv_heads, -1, v->type.shape[3].is_static() ? v->type.shape[3].value() : 0});
}

/// The same of a bias, which may repeat over heads and queries. Null where its shape is not known.
Value* grouped_bias(ExpandContext& c, const AttentionProduct& p) {
  const Shape& s = p.bias->type.shape;
  const Dim &heads = s[1], &rows = s[2], &queries = p.q->type.shape[2];
  if (!heads.is_static() || !rows.is_static() || !queries.is_static()) return nullptr;
  const int64_t group = p.q_heads / p.kv_heads;
  if (heads.value() == 1 && rows.value() == 1) return p.bias;
  if (heads.value() == 1) return c.op("Tile", {p.bias, c.ints({1, 1, group, 1})});
  Value* full = rows.value() == queries.value() ? p.bias : c.op("Expand", {p.bias, c.ints({1, 1, queries.value(), 1})});
  return full ? c.reshape(full, {0, p.kv_heads, group * queries.value(), 0}) : nullptr;
}

}  // namespace

DType wide_type(DType type) { return type == DType::f16 || type == DType::bf16 ? DType::f32 : type; }

Value* split_heads(ExpandContext& c, Value* v, int64_t heads) {
  if (!v) return nullptr;
  const Dim& hidden = v->type.shape[2];
  if (hidden.is_static() && hidden.value() == 0)  // of heads without elements; to a Reshape a 0 is another dimension's size
    return c.transpose(c.op("Expand", {c.unsqueeze(v, {2}), c.ints({1, 1, heads, 1})}), {0, 2, 1, 3});
  return c.transpose(c.reshape(v, {0, 0, heads, hidden.is_static() ? hidden.value() / heads : -1}), {0, 2, 1, 3});
}

Value* merge_heads(ExpandContext& c, Value* v) {
  if (!v) return nullptr;
  const Dim hidden = multiply(v->type.shape[1], v->type.shape[3]);
  if (v->type.shape[3].is_static() && v->type.shape[3].value() == 0)
    return c.op("Squeeze", {c.slice(c.transpose(v, {0, 2, 1, 3}), 2, 0, 1), c.ints({2})});
  return c.reshape(c.transpose(v, {0, 2, 1, 3}), {0, 0, hidden.is_static() ? hidden.value() : -1});
}

Value* sum_of(ExpandContext& c, Value* a, Value* b) { return a && b ? c.op("Add", {a, b}) : a ? a : b; }
Value* both_of(ExpandContext& c, Value* a, Value* b) { return a && b ? c.op("And", {a, b}) : a ? a : b; }

Value* bias_of(ExpandContext& c, Value* allowed, DType type) {
  return allowed ? c.op("Where", {allowed, c.number(0, type), c.number(kMinusInfinity, type)}) : nullptr;
}

Value* allowed_keys(ExpandContext& c, const KeyPositions& p) {
  if (!p.causal && p.left < 0 && p.right < 0) return nullptr;
  Value* query = c.unsqueeze(c.up_to(p.queries), {1});
  if (p.offset) query = c.op("Add", {query, p.offset});
  Value* key = c.up_to(p.keys);
  const auto shifted = [&](int64_t by) {
    return by == 0 ? query : c.op("Add", {query, c.number(static_cast<double>(by), DType::i64)});
  };
  Value* allowed = nullptr;
  const int64_t most = std::numeric_limits<int32_t>::max();  // further than any key
  int64_t right = p.right < 0 ? most : std::min(p.right, most);
  if (p.causal) right = 0;
  if (right < most) allowed = c.op("LessOrEqual", {key, shifted(right)});
  if (p.left >= 0) allowed = both_of(c, allowed, c.op("GreaterOrEqual", {key, shifted(-std::min(p.left, most))}));
  return allowed;
}

AttentionParts attend(ExpandContext& c, const AttentionProduct& p) {
  const DType type = wide_type(p.q->type.dtype);
  const bool shared = p.q_heads != p.kv_heads;
  Value *q = c.cast(p.q, type), *k = c.cast(p.k, type), *v = c.cast(p.v, type), *bias = p.bias;
  if (shared && bias && !(bias = grouped_bias(c, p))) return {};
  if (shared) q = grouped(c, q, p.kv_heads);
  const auto apart = [&](Value* x) {
    return shared && x ? c.reshape(x, {0, p.q_heads, -1, x->type.shape[3].is_static() ? x->type.shape[3].value() : 0}) : x;
  };
  Value* scores = c.op("MatMul", {q, c.transpose(k, {0, 1, 3, 2})});
  if (p.scale != 1) scores = c.op("Mul", {scores, c.number(p.scale, type)});
  AttentionParts parts;
  parts.raw = apart(scores);
  if (p.softcap > 0) {
    Value* cap = c.number(p.softcap, type);
    scores = c.op("Mul", {c.op("Tanh", {c.op("Div", {scores, cap})}), cap});
  }
  parts.capped = apart(scores);
  scores = sum_of(c, scores, bias);
  parts.biased = apart(scores);
  const DType softmax_type = p.softmax_type == DType::undefined ? type : p.softmax_type;
  const auto modified = [&](Value* x, const std::function<Value*(Value*)>& by) {
    if (!by || !x) return x;
    Value* y = by(apart(x));
    return shared && y ? grouped(c, y, p.kv_heads) : y;
  };
  scores = modified(c.cast(scores, softmax_type), p.modify_scores);
  Value* probabilities = c.op("Softmax", {scores}, make_attributes({{"axis", int64_t{-1}}}));
  probabilities = c.cast(modified(probabilities, p.modify_probabilities), type);
  parts.y = apart(c.op("MatMul", {probabilities, v}));
  parts.probabilities = apart(probabilities);
  if (p.bias && p.empty_rows) {
    Value* best = c.op("ReduceMax", {p.bias, c.ints({-1})}, make_attributes({{"keepdims", int64_t{1}}}));
    Value* empty = c.op("Equal", {best, c.number(kMinusInfinity, type)});
    parts.y = c.op("Where", {empty, c.number(0, type), parts.y});
    parts.probabilities = c.op("Where", {empty, c.number(0, type), parts.probabilities});
  }
  return parts;
}

}  // namespace svengine::ops
