// com.microsoft.QAttention: Attention whose product with the weights is one of 8-bit integers, dequantised before the heads are cut.
#include "engine/ops/microsoft/runtime_attention_common.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/quantized/counted_inputs.h"

namespace svengine::ops {
namespace {

enum QAttentionInput : size_t { kQInput, kQWeights, kQBias, kQInputScale, kQWeightScale, kQMask, kQInputZero, kQWeightZero, kQPast };

Status check_q_attention(const InferContext& c) {
  SV_TRY(require_bytes(c, kQInput));
  SV_TRY(require_bytes(c, kQWeights));
  SV_TRY(require_rank(c, kQInput, 3));
  SV_TRY(require_rank(c, kQWeights, 2));
  SV_TRY(require_dtype(c, kQBias, {DType::f32, DType::f16}));
  SV_TRY(require_rank(c, kQBias, 1));
  for (const size_t i : {kQInputScale, kQWeightScale, kQPast})
    if (c.has_input(i) && c.dtype(i) != c.dtype(kQBias))
      return error("{} is {}, must be {} as bias is", c.described(i), name_of(c.dtype(i)), name_of(c.dtype(kQBias)));
  SV_TRY(require_zero_of(c, kQInputZero, kQInput));
  SV_TRY(require_zero_of(c, kQWeightZero, kQWeights));
  SV_TRY(check_counts(c, {.a = kQInput, .b = kQWeights, .of_columns = {kQWeightScale, kQWeightZero}, .single = {kQInputScale, kQInputZero}}));
  SV_TRY(require_rank(c, kQPast, 5));
  for (const char* name : {"do_rotary", "past_present_share_buffer"})
    if (c.attributes().get_int(name, 0) != 0) return unimplemented("{} is not supported", name);
  return {};
}

Status infer_q_attention(InferContext& c) {
  SV_TRY(check_q_attention(c));
  const int64_t heads = c.attributes().get_int("num_heads", 0);
  if (heads < 1) return error("num_heads is {}, must be at least 1", heads);
  const Shape &x = c.shape(kQInput), &w = c.shape(kQWeights);
  if (x.has_rank() && w.has_rank() && known_different(x[2], w[0])) return error("weight {} does not fit input {}", to_string(w), to_string(x));
  if (w.has_rank() && c.shape(kQBias).has_rank() && known_different(c.shape(kQBias)[0], w[1]))
    return error("bias has {} elements, needs one for each of the weights' {} columns", c.shape(kQBias)[0].value(), w[1].value());
  if (w.has_rank() && w[1].is_static() && (w[1].value() % 3 != 0 || w[1].value() / 3 % heads != 0))
    return error("weight has {} columns, must be a multiple of 3 for {} heads", w[1].value(), heads);
  const Dim hidden = w.has_rank() && w[1].is_static() ? Dim(w[1].value() / 3) : Dim(),
            size = hidden.is_static() ? Dim(hidden.value() / heads) : Dim();
  const Dim batch = x.has_rank() ? x[0] : Dim(), queries = x.has_rank() ? x[1] : Dim();
  Dim past(0);
  if (c.has_input(kQPast)) {
    past = c.shape(kQPast).has_rank() ? c.shape(kQPast)[3] : Dim();
    const Shape wanted{Dim(2), batch, Dim(heads), past, size};
    for (size_t d = 0; c.shape(kQPast).has_rank() && d < 5; ++d)
      if (known_different(c.shape(kQPast)[d], wanted[d])) return error("past is {}, needs {}", to_string(c.shape(kQPast)), to_string(wanted));
  }
  SV_TRY(check_runtime_mask(c, kQMask, batch, queries, add(past, queries), Placeholder::taken));
  c.set(0, c.dtype(kQBias), Shape{batch, queries, hidden});
  c.set(1, c.dtype(kQBias), Shape{Dim(2), batch, Dim(heads), add(past, queries), size});
  return {};
}

Status expand_q_attention(ExpandContext& c) {
  const auto columns = c.dim(kQWeights, 1);
  if (!columns || !c.shape(kQInput).has_rank()) return {};
  const DType type = DType::f32;  // float16 is computed in it
  const Node* product = c.builder().node(kMicrosoftDomain, "MatMulIntegerToFloat",
                                         {c.input(kQInput), c.input(kQWeights), c.cast(c.input(kQInputScale), type),
                                          c.cast(c.input(kQWeightScale), type), c.input(kQInputZero), c.input(kQWeightZero),
                                          c.cast(c.input(kQBias), type)}, 1);
  if (!product) return {};
  MergedProduct merged{product->output(), *columns / 3, *columns / 3};
  merged.mask = kQMask, merged.past = kQPast;
  return attend_merged(c, merged);
}

}  // namespace

OpDef define_q_attention() {
  return {
      .name = "QAttention",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input, weight, bias, input_scale, weight_scale, mask_index?, input_zero_point?, weight_zero_point?, past?",
      .outputs = {1, 2},
      .attributes = {{"num_heads", AttributeKind::kInt, true},
                     {"unidirectional", AttributeKind::kInt, false, 0},
                     {"scale", AttributeKind::kFloat},
                     {"mask_filter_value", AttributeKind::kFloat, false, -10000.0f},
                     {"do_rotary", AttributeKind::kInt},
                     {"past_present_share_buffer", AttributeKind::kInt}},
      .expand = expand_q_attention,
      .infer = infer_q_attention,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(uint8[2, 3, 8] 0 to 256, int8[8, 24] -128 to 128, float32[24], float32[] 0.01 to 0.1, float32[24] 0.01 to 0.1, "
                 "int32[2]{2, 3}, uint8[] 0 to 256, int8[24] -128 to 128, float32[2, 2, 2, 0, 4]) {num_heads = 2, unidirectional = 1} 2"
                 "(uint8[1, 1, 2] 0 to 256, uint8[2, 3] 0 to 256, float32[3], float32[] 0.01 to 0.1, float32[] 0.01 to 0.1) {num_heads = 1}",
  };
}

}  // namespace svengine::ops
