// com.microsoft's DynamicQuantizeLSTM: an LSTM whose weights are 8-bit integers. They become floats once, at load, and the node an LSTM:
// inputs and states are not rounded to 8 bits, so results are nearer to those of the network that was quantised than ONNX Runtime's are.
#include "engine/ops/microsoft/microsoft_common.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/recurrent/recurrent_common.h"

namespace svengine::ops {
namespace {

enum DynamicLstmInput : size_t { kSteps, kDW, kDR, kDB, kDLengths, kDHidden, kDCell, kDPeepholes, kDWScale, kDWZero, kDRScale, kDRZero };

/// Scale or zero point of weights [directions, size, 4 hidden]: [directions], or [directions, 4 hidden].
Status check_lstm_weights(const InferContext& c, size_t weights, size_t of) {
  const Shape &w = c.shape(weights), &s = c.shape(of);
  if (!s.has_rank()) return {};
  if (s.rank() != 1 && s.rank() != 2) return error("{} is {}, needs [directions] or [directions, 4 * hidden_size]", c.described(of), to_string(s));
  if (w.has_rank() && (known_different(s[0], w[0]) || (s.rank() == 2 && known_different(s[1], w[2]))))
    return error("{} {} does not fit {} {}", c.described(of), to_string(s), c.described(weights), to_string(w));
  return {};
}

Status infer_dynamic_lstm(InferContext& c) {
  SV_TRY(require_rank(c, kSteps, 3));
  for (const size_t i : {kDW, kDR}) SV_TRY(require_rank(c, i, 3));
  SV_TRY(check_lstm_weights(c, kDW, kDWScale));
  SV_TRY(check_lstm_weights(c, kDW, kDWZero));
  SV_TRY(check_lstm_weights(c, kDR, kDRScale));
  SV_TRY(check_lstm_weights(c, kDR, kDRZero));
  SV_ASSIGN(const int64_t count, recurrent_directions(c.attributes()));
  const Dim directions(count);
  const Shape &x = c.shape(kSteps), &w = c.shape(kDW), &r = c.shape(kDR);
  if (x.has_rank() && w.has_rank() && known_different(x[2], w[1])) return error("W {} does not fit X {}", to_string(w), to_string(x));
  if (w.has_rank() && r.has_rank() && (known_different(w[2], r[2]) || known_different(w[0], r[0])))
    return error("W {} and R {} need the same first and last dimension", to_string(w), to_string(r));
  if (r.has_rank() && (known_different(r[0], directions) || known_different(r[2], multiply(r[1], Dim(4)))))
    return error("R is {}, needs [{}, hidden_size, 4 * hidden_size]", to_string(r), directions.value());
  const int64_t given = c.attributes().get_int("hidden_size", 0);
  const Dim hidden = r.has_rank() && r[1].is_static() ? r[1] : given > 0 ? Dim(given) : Dim();
  if (given > 0 && known_different(hidden, Dim(given))) return error("hidden_size is {}, but R is {}", given, to_string(r));
  const Dim steps = x.has_rank() ? x[0] : Dim(), batch = x.has_rank() ? x[1] : Dim();
  c.set(0, DType::f32, Shape{steps, directions, batch, hidden});
  c.set(1, DType::f32, Shape{directions, batch, hidden});
  c.set(2, DType::f32, Shape{directions, batch, hidden});
  return {};
}

/// [directions, 4 hidden, size], as LSTM has them.
Value* float_weights(ExpandContext& c, size_t weights, size_t scale, size_t zero) {
  const auto broadcast = [&](size_t i) {
    const bool columns = c.shape(i).rank() == 2;
    return c.unsqueeze(c.cast(c.input(i), DType::f32), columns ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 2});
  };
  Value* w = c.op("Sub", {c.cast(c.input(weights), DType::f32), broadcast(zero)});
  return c.transpose(c.op("Mul", {w, broadcast(scale)}), {0, 2, 1});
}

Status expand_dynamic_lstm(ExpandContext& c) {
  for (const size_t i : {kDWScale, kDWZero, kDRScale, kDRZero})
    if (!c.shape(i).has_rank()) return {};
  const auto hidden = c.dim(kDR, 1);
  if (!hidden) return {};
  Attributes attributes = c.attributes();
  attributes.set("hidden_size", *hidden);
  std::vector<Value*> inputs{c.input(kSteps), float_weights(c, kDW, kDWScale, kDWZero), float_weights(c, kDR, kDRScale, kDRZero)};
  for (const size_t i : {kDB, kDLengths, kDHidden, kDCell, kDPeepholes}) inputs.push_back(c.input(i));
  while (!inputs.back()) inputs.pop_back();
  const Node* lstm = c.builder().node("", "LSTM", std::move(inputs), 3, std::move(attributes));
  if (!lstm) return {};
  for (size_t i = 0; i < 3; ++i) c.set(i, lstm->output(i));
  return {};
}

}  // namespace

OpDef define_dynamic_quantize_lstm() {
  OpDef op{
      .name = "DynamicQuantizeLSTM",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X, W, R, B?, sequence_lens?, initial_h?, initial_c?, P?, W_scale, W_zero_point, R_scale, R_zero_point",
      .outputs = {0, 3},
      .attributes = recurrent_attributes(),
      .expand = expand_dynamic_lstm,
      .infer = infer_dynamic_lstm,
      .types = {{"T", {DType::f32}, {0, 3, 5, 6, 7, 8, 10}}, {"T1", {DType::i32}, {4}}, {"T2", kBytes, {1, 2, 9, 11}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[4, 2, 3], int8[1, 3, 8] -128 to 128, int8[1, 2, 8] -128 to 128, float32[1, 16], int32[2]{4, 2}, float32[1, 2, 2], "
                 "float32[1, 2, 2], float32[1, 6], float32[1] 0.001 to 0.01, int8[1] -128 to 128, float32[1, 8] 0.001 to 0.01, "
                 "int8[1, 8] -128 to 128) {hidden_size = 2} 3",
  };
  op.attributes.push_back({"input_forget", AttributeKind::kInt, false, 0});
  return op;
}

}  // namespace svengine::ops
