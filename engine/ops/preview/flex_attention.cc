// FlexAttention (ai.onnx.preview): attention whose scores and probabilities go through bodies of the model's own. Made of the products
// and the Softmax of attention, with the bodies' nodes between them; without bodies it is plain attention, which the pass `attention`
// makes one kernel of.
#include <cmath>

#include "engine/ops/control/control_common.h"
#include "engine/ops/language/attention_common.h"

namespace svengine::ops {
namespace {

constexpr const char* kScoreBody = "score_mod";
constexpr const char* kProbabilityBody = "prob_mod";

DType flex_precision(const Attributes& attributes, DType q) {
  const DType otherwise = q == DType::f64 ? DType::f64 : DType::f32;
  return attributes.get_dtype("softmax_precision", otherwise);
}

/// Takes [batch, query heads, queries, keys] and gives the same.
Status check_flex_body(const InferContext& c, const char* name, const Type& scores) {
  if (!c.attributes().has(name)) return {};
  SV_ASSIGN(const Graph* body, checked_body(c, name, 1, 1));
  if (body->outputs().size() != 1) return error("body '{}' has {} outputs, needs one", name, body->outputs().size());
  SV_TRY(check_body_input(*body, 0, scores));
  const Type& out = body->outputs()[0]->type;
  if (out.dtype != scores.dtype && out.dtype != DType::undefined)
    return error("body '{}' gives {}, must give {} as it is given", name, to_string(out), to_string(scores));
  if (!out.shape.has_rank() || !scores.shape.has_rank()) return {};
  bool same = out.shape.rank() == 4;
  for (size_t d = 0; same && d < 4; ++d) same = !known_different(out.shape[d], scores.shape[d]);
  if (!same) return error("body '{}' gives {}, must keep the shape of {}", name, to_string(out), to_string(scores));
  return {};
}

Status check_flex_shapes(const Shape& q, const Shape& k, const Shape& v) {
  if (known_different(q[0], k[0]) || known_different(q[0], v[0]))
    return error("Q {}, K {} and V {} need the same first dimension", to_string(q), to_string(k), to_string(v));
  if (known_different(k[1], v[1]) || known_different(k[2], v[2]))
    return error("K {} and V {} need the same heads and length", to_string(k), to_string(v));
  if (known_different(q[3], k[3])) return error("Q {} and K {} need the same last dimension", to_string(q), to_string(k));
  if (q[1].is_static() && k[1].is_static() && (k[1].value() == 0 || q[1].value() % k[1].value() != 0))
    return error("{} heads of Q cannot share {} heads of K and V: it must be a multiple", q[1].value(), k[1].value());
  return {};
}

Status infer_flex_attention(InferContext& c) {
  if (own_input_count(c) != 3) return error("has {} inputs, needs three: Q, K and V", own_input_count(c));
  for (size_t i = 0; i < 3; ++i) {
    SV_TRY(require_dtype(c, i, kRealTypes));
    SV_TRY(require_rank(c, i, 4));
    if (c.dtype(i) != c.dtype(0))
      return error("Q is {} and {} {}: they must be of one type", name_of(c.dtype(0)), c.described(i), name_of(c.dtype(i)));
  }
  const DType precision = flex_precision(c.attributes(), c.dtype(0));
  if (!kRealTypes.has(precision))
    return error("softmax_precision is {}, must be 1 (float32), 10, 11 or 16", c.attributes().get_int("softmax_precision"));
  Type scores{precision, Shape()};
  Shape y = unknown_dims(4);
  const Shape &q = c.shape(0), &k = c.shape(1), &v = c.shape(2);
  if (q.has_rank() && k.has_rank() && v.has_rank()) {
    SV_TRY(check_flex_shapes(q, k, v));
    scores.shape = Shape{q[0], q[1], q[2], k[2]};
    y = Shape{q[0], q[1], q[2], v[3]};
  }
  SV_TRY(check_flex_body(c, kScoreBody, scores));
  SV_TRY(check_flex_body(c, kProbabilityBody, scores));
  c.set(0, c.dtype(0), std::move(y));
  return {};
}

/// What the body makes of the scores or probabilities: of their shape, as the specification says.
Value* modified_by_body(ExpandContext& c, const char* name, Value* scores) {
  Value* out = c.body(name, scores);
  if (!out || out->type.shape.rank() == 4) return out;
  if (!out->type.shape.has_rank()) return c.reshape_like(out, scores);
  c.builder().note(error("body '{}' gives {}, must keep the shape of {}", name, to_string(out->type), to_string(scores->type)));
  return nullptr;
}

Status expand_flex_attention(ExpandContext& c) {
  for (size_t i = 0; i < 3; ++i)
    if (!c.shape(i).has_rank()) return {};
  const auto q_heads = c.dim(0, 1), kv_heads = c.dim(1, 1), size = c.dim(0, 3);
  const float* scale = c.attributes().get<float>("scale");
  if (!q_heads || !kv_heads || (!size && !scale)) return {};
  AttentionProduct p;
  p.softmax_type = flex_precision(c.attributes(), c.dtype(0));
  const DType type = p.softmax_type == DType::f64 ? DType::f64 : c.dtype(0);
  p.q = c.cast(c.input(0), type), p.k = c.cast(c.input(1), type), p.v = c.cast(c.input(2), type);
  p.q_heads = *q_heads, p.kv_heads = *kv_heads;
  p.scale = scale ? *scale : *size > 0 ? 1 / std::sqrt(static_cast<double>(*size)) : 1;
  if (c.attributes().has(kScoreBody)) p.modify_scores = [&](Value* v) { return modified_by_body(c, kScoreBody, v); };
  if (c.attributes().has(kProbabilityBody)) p.modify_probabilities = [&](Value* v) { return modified_by_body(c, kProbabilityBody, v); };
  c.set(0, c.cast(attend(c, p).y, c.dtype(0)));
  return {};
}

}  // namespace

OpDef define_flex_attention() {
  return {
      .name = "FlexAttention",
      .domain = kPreviewDomain,
      .until = 1,
      .inputs = "Q, K, V, captured?...",
      .attributes = {{kScoreBody, AttributeKind::kGraph},
                     {kProbabilityBody, AttributeKind::kGraph},
                     {"scale", AttributeKind::kFloat},
                     {"softmax_precision", AttributeKind::kInt},
                     internal_attribute(kCaptured, AttributeKind::kInt)},
      .expand = expand_flex_attention,
      .infer = infer_flex_attention,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 4, 8], float32[2, 3, 6, 8], float32[2, 3, 6, 5])"
                 "(float32[1, 1, 1, 1], float32[1, 1, 1, 1], float32[1, 1, 1, 1]) {scale = 0.5}"
                 "(float32[2, 4, 3, 8], float32[2, 2, 5, 8], float32[2, 2, 5, 4])"
                 "(float16[1, 2, 3, 8], float16[1, 2, 5, 8], float16[1, 2, 5, 4])"
                 "(float64[1, 2, 3, 8], float64[1, 2, 5, 8], float64[1, 2, 5, 4])"
                 R"((float32[2, 4, 3, 8], float32[2, 2, 5, 8], float32[2, 2, 5, 4], float32[2, 4, 3, 5]) {score_mod = graph "body" {
  input %scores: float32[*]
  input %around: float32[*]
  output %around
}, prob_mod = graph "body" {
  input %scores: float32[*]
  input %around: float32[*]
  output %scores
}, captured = 1})"
                 R"((bfloat16[2, 2, 3, 8], bfloat16[2, 2, 5, 8], bfloat16[2, 2, 5, 4], float16[2, 2, 3, 5]) {score_mod = graph "body" {
  input %scores: float16[*]
  input %around: float16[*]
  output %scores
}, prob_mod = graph "body" {
  input %scores: float16[*]
  input %around: float16[*]
  output %around
}, softmax_precision = 10, captured = 1})",
  };
}

}  // namespace svengine::ops
