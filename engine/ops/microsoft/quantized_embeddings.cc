// com.microsoft's QEmbedLayerNormalization: a transformer's embeddings from tables of 8-bit integers. What is gathered is dequantised, not
// the tables, and then summed up and normalised.
#include "engine/ops/microsoft/microsoft_common.h"
#include "engine/ops/quantized/integer_product_common.h"

namespace svengine::ops {
namespace {

enum QEmbedInput : size_t { kQWords, kQSegments, kQWordTable, kQPositionTable, kQSegmentTable, kQGamma, kQBeta, kQTokenMask, kQScales, kQZeros = 13 };
/// Tables, gamma and beta come in this order, and in the same their scales and zero points.
constexpr size_t kQuantizedOnes[] = {kQWordTable, kQPositionTable, kQSegmentTable, kQGamma, kQBeta};

Status infer_q_embed(InferContext& c) {
  for (const size_t i : {kQWords, kQSegments, kQTokenMask}) {
    SV_TRY(require_dtype(c, i, {DType::i32}));
    SV_TRY(require_rank(c, i, 2));
  }
  for (const size_t i : kQuantizedOnes) {
    const size_t scale = kQScales + i - kQWordTable, zero = kQZeros + i - kQWordTable;
    const bool there = c.has_input(i);
    if (there != c.has_input(scale) || there != c.has_input(zero))
      return error("inputs {}, {} and {} must be given together", i, scale, zero);
    if (!there) continue;
    SV_TRY(require_bytes(c, i));
    SV_TRY(require_rank(c, i, i <= kQSegmentTable ? 2 : 1));
    SV_TRY(require_dtype(c, scale, {DType::f32}));
    SV_TRY(require_single(c, scale));
    SV_TRY(require_zero_of(c, zero, i));
    SV_TRY(require_single(c, zero));
    if (c.shape(i).has_rank() && c.shape(kQWordTable).has_rank() && known_different(c.shape(i).back(), c.shape(kQWordTable)[1]))
      return error("{} is {}, needs a last dimension of {}", c.described(i), to_string(c.shape(i)), c.shape(kQWordTable)[1].value());
  }
  if (c.has_input(kQSegments) != c.has_input(kQSegmentTable)) return error("segment_ids and segment_embedding must be given together");
  const Shape &ids = c.shape(kQWords), &table = c.shape(kQWordTable);
  for (const size_t i : {kQSegments, kQTokenMask})
    if (c.has_input(i) && c.shape(i).has_rank() && ids.has_rank() &&
        (known_different(c.shape(i)[0], ids[0]) || known_different(c.shape(i)[1], ids[1])))
      return error("{} is {}, must be of the shape {} of input_ids", c.described(i), to_string(c.shape(i)), to_string(ids));
  c.set(0, DType::f32, Shape{ids.has_rank() ? ids[0] : Dim(), ids.has_rank() ? ids[1] : Dim(), table.has_rank() ? table[1] : Dim()});
  c.set(1, DType::i32, Shape{ids.has_rank() ? ids[0] : Dim()});
  return {};
}

Status expand_q_embed(ExpandContext& c) {
  const auto as_float = [&](Value* v, size_t of) {
    const size_t at = of - kQWordTable;
    return c.op("DequantizeLinear", {v, c.reshape(c.input(kQScales + at), {}), c.reshape(c.input(kQZeros + at), {})});
  };
  Value* sum = as_float(c.op("Gather", {c.input(kQWordTable), c.input(kQWords)}), kQWordTable);
  Value* positions = c.op("Slice", {c.input(kQPositionTable), c.ints({0}), c.size_of_dim(c.input(kQWords), 1), c.ints({0})});
  if (c.has_input(kQSegments)) sum = c.op("Add", {sum, as_float(c.op("Gather", {c.input(kQSegmentTable), c.input(kQSegments)}), kQSegmentTable)});
  sum = c.op("Add", {sum, as_float(positions, kQPositionTable)});
  c.set(0, c.op("LayerNormalization", {sum, as_float(c.input(kQGamma), kQGamma), as_float(c.input(kQBeta), kQBeta)},
                make_attributes({{"axis", int64_t{-1}}, {"epsilon", c.attributes().get_float("epsilon", 1e-12f)}})));
  if (c.has_output(1)) c.set(1, mask_index(c, c.has_input(kQTokenMask) ? c.input(kQTokenMask) : nullptr, c.input(kQWords)));
  return {};
}

}  // namespace

OpDef define_q_embed_layer_normalization() {
  return {
      .name = "QEmbedLayerNormalization",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input_ids, segment_ids?, word_embedding_quant, position_embedding_quant, segment_embedding?, gamma_quant, beta_quant, mask?, "
                "word_embedding_scale, position_embedding_scale, segment_embedding_scale?, gamma_scale, beta_scale, word_embedding_zero_point, "
                "position_embedding_zero_point, segment_embedding_zero_point?, gamma_zero_point, beta_zero_point",
      .outputs = {2, 2},
      .attributes = {{"epsilon", AttributeKind::kFloat, false, 1e-12f}},
      .expand = expand_q_embed,
      .infer = infer_q_embed,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(int32[2, 3]{1, 0, 3, 2, 2, 1}, int32[2, 3]{1, 0, 1, 1, 1, 0}, uint8[4, 6] 0 to 256, uint8[5, 6] 0 to 256, "
                 "uint8[2, 6] 0 to 256, uint8[6] 0 to 256, uint8[6] 0 to 256, int32[2, 3]{1, 0, 1, 1, 1, 0}, float32[] 0.01 to 0.1, "
                 "float32[] 0.01 to 0.1, float32[] 0.01 to 0.1, float32[] 0.01 to 0.1, float32[] 0.01 to 0.1, uint8[] 0 to 256, "
                 "uint8[] 0 to 256, uint8[] 0 to 256, uint8[] 0 to 256, uint8[] 0 to 256) 2",
  };
}

}  // namespace svengine::ops
