// com.microsoft's gates of newer language models: one tensor times an activation of another, as ONNX Runtime's exporter fuses them. Where
// "type" is float16 or bfloat16, each is computed in float32 and rounded where its specification says.
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

/// Of the shape of input `of` but for the last dimension, which is `last`.
Status require_beside(const InferContext& c, size_t input, size_t of, const Dim& last) {
  if (!c.shape(of).has_rank()) return {};
  if (c.shape(of).rank() == 0) return error("X has no dimensions, needs at least one");
  std::vector<Dim> wanted = c.shape(of).dims();
  wanted.back() = last;
  return require_shape(c, input, Shape(std::move(wanted)));
}

Value* in_float32(ExpandContext& c, size_t i) { return c.cast(c.input(i), DType::f32); }

/// In float32, and rounded to the type of input 0 where it is another: a node of float16 alone would be computed as far as it is fused.
Value* rounded(ExpandContext& c, const char* op, std::vector<Value*> inputs) {
  for (Value*& v : inputs) v = c.cast(v, DType::f32);
  return c.cast(c.op(op, std::move(inputs)), c.dtype(0));
}

Status infer_scaled_silu(InferContext& c) {
  SV_TRY(require_rank(c, 1, 0));
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

/// z = T(scale x), y = T(z T(sigmoid(z))).
Status expand_scaled_silu(ExpandContext& c) {
  const float alpha = c.attributes().get_float("alpha", 1);
  Value* z = c.input(0);
  if (c.has_input(1) || alpha != 1) z = rounded(c, "Mul", {z, c.has_input(1) ? c.input(1) : c.number(alpha, DType::f32)});
  c.set(0, rounded(c, "Mul", {z, rounded(c, "Sigmoid", {z})}));
  return {};
}

/// With gate_weight [K, 1], gate [..., K] is what it multiplies; else the gate itself, [..., 1].
Status infer_gated_add(InferContext& c) {
  SV_TRY(require_same_shape(c, 0, 1));
  SV_TRY(require_rank(c, 3, 2));
  const bool projected = c.has_input(3);
  const Shape& weight = projected ? c.shape(3) : c.shape(2);
  if (projected && weight.has_rank() && known_different(weight[1], Dim(1))) return error("gate_weight is {}, needs [K, 1]", to_string(weight));
  SV_TRY(require_beside(c, 2, 0, !projected ? Dim(1) : weight.has_rank() ? weight[0] : Dim()));
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

Status expand_gated_add(ExpandContext& c) {
  Value* gate = c.input(2);
  if (c.has_input(3)) gate = rounded(c, "Sigmoid", {rounded(c, "MatMul", {gate, c.input(3)})});
  c.set(0, rounded(c, "Add", {c.input(0), rounded(c, "Mul", {c.input(1), gate})}));
  return {};
}

Status infer_gated_rms_norm(InferContext& c) {
  const std::string activation = c.attributes().get_string("activation", "silu");
  if (activation != "silu" && activation != "swish" && activation != "sigmoid")
    return error("activation is '{}', must be silu, swish or sigmoid", activation);
  SV_TRY(require_rank_at_least(c, 0, 1));
  SV_TRY(require_rank(c, 1, 1));
  SV_TRY(require_same_shape(c, 0, 2));
  const Dim each = c.shape(1).has_rank() ? c.shape(1)[0] : Dim(), last = c.shape(0).has_rank() ? c.shape(0).back() : Dim();
  if (each.is_static() && (each.value() < 1 || (last.is_static() && last.value() % each.value() != 0)))
    return error("scale has {} elements, of which the last dimension of X {} must be a multiple", each.value(), to_string(c.shape(0)));
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

/// As many elements as scale has are normalised together; all in float32.
Status expand_gated_rms_norm(ExpandContext& c) {
  const auto each = c.dim(1, 0);
  if (!each) return {};
  Value* norm = c.op("RMSNormalization", {c.reshape(in_float32(c, 0), {-1, *each}), in_float32(c, 1)},
                     make_attributes({{"axis", int64_t{-1}}, {"epsilon", c.attributes().get_float("epsilon", 1e-5f)}}));
  Value* z = in_float32(c, 2);
  Value* gate = c.op("Sigmoid", {z});
  if (c.attributes().get_string("activation", "silu") != "sigmoid") gate = c.op("Mul", {z, gate});
  c.set(0, c.cast(c.op("Mul", {c.reshape_like(norm, c.input(0)), gate}), c.dtype(0)));
  return {};
}

Status infer_linear_attention_gate(InferContext& c) {
  SV_TRY(require_rank(c, 0, 3));
  SV_TRY(require_last(c, 1));
  SV_TRY(require_last(c, 2));
  if (c.has_input(3)) SV_TRY(require_same_shape(c, 0, 3));
  if (c.has_output(1) && !c.has_input(3)) return error("output beta needs input b");
  for (size_t i = 0; i < 2; ++i) c.set(i, c.dtype(0), c.shape(0));
  return {};
}

Status expand_linear_attention_gate(ExpandContext& c) {
  Value* rate = c.op("Softplus", {c.op("Add", {in_float32(c, 0), c.input(1)})});
  c.set(0, c.cast(c.op("Mul", {c.input(2), rate}), c.dtype(0)));
  if (c.has_output(1)) c.set(1, c.op("Sigmoid", {c.input(3)}));
  return {};
}

}  // namespace

OpDef define_microsoft_scaled_silu() {
  return {
      .name = "ScaledSiLU",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X, scale?",
      .attributes = {{"alpha", AttributeKind::kFloat, false, 1.0f}},
      .expand = expand_scaled_silu,
      .infer = infer_scaled_silu,
      .types = {{"T", kSingleTypes, {0}}, {"M", kSingleTypes, {1}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 5]) {alpha = 1.7}"
                 "(float32[7], float32[]{0.5})"
                 "(float32[0, 3])",
  };
}

OpDef define_microsoft_gated_add() {
  return {
      .name = "GatedAdd",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X, Y, gate, gate_weight?",
      .expand = expand_gated_add,
      .infer = infer_gated_add,
      .types = {{"T", kSingleTypes, {0, 1, 2, 3}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 5], float32[2, 3, 5], float32[2, 3, 1])"
                 "(float32[2, 5], float32[2, 5], float32[2, 4], float32[4, 1])",
  };
}

OpDef define_microsoft_gated_rms_norm() {
  return {
      .name = "GatedRMSNorm",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X, scale, gate",
      .attributes = {{"activation", AttributeKind::kString, false, "silu"}, {"epsilon", AttributeKind::kFloat, false, 1e-5f}},
      .expand = expand_gated_rms_norm,
      .infer = infer_gated_rms_norm,
      .types = {{"T", kSingleTypes, {0, 1, 2}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 10], float32[5], float32[2, 3, 10])"
                 R"((float32[4], float32[4], float32[4]) {activation = "sigmoid", epsilon = 0.1})",
  };
}

OpDef define_microsoft_linear_attention_gate() {
  return {
      .name = "LinearAttentionGate",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "a, dt_bias, decay_scale, b?",
      .outputs = {1, 2},
      .expand = expand_linear_attention_gate,
      .infer = infer_linear_attention_gate,
      .types = {{"T", kSingleTypes, {0, 3}}, {"TF", {DType::f32}, {1, 2}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 4], float32[4], float32[4], float32[2, 3, 4]) 2"
                 "(float32[1, 2, 3], float32[3], float32[3])",
  };
}

}  // namespace svengine::ops
