// com.microsoft.RotaryEmbedding, and EmbedLayerNormalization: a transformer's embeddings summed up and normalised.
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

Status infer_runtime_rotary(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  for (size_t i = 2; i < 4; ++i) {
    SV_TRY(require_rank(c, i, 2));
    if (c.dtype(i) != c.dtype(0)) return error("cos_cache and sin_cache must be {} as input is", name_of(c.dtype(0)));
  }
  for (const char* name : {"is_packed_batching"})
    if (c.attributes().get_int(name, 0) != 0) return unimplemented("{} is not supported", name);
  if (c.attributes().get_float("scale", 1) != 1) return error("scale is {}, must be 1", c.attributes().get_float("scale", 1));
  const int64_t rotated = c.attributes().get_int("rotary_embedding_dim", 0), heads = c.attributes().get_int("num_heads", 0);
  if (rotated < 0 || rotated % 2 != 0) return error("rotary_embedding_dim is {}, must be even", rotated);
  if (rotated > 0 && heads < 1) return error("rotary_embedding_dim needs attribute num_heads");
  const Shape& ids = c.shape(1);
  if (ids.has_rank() && ids.rank() > 0 && ids.rank() != 2 && !(ids.rank() == 1 && !known_different(ids[0], Dim(1))))
    return error("position_ids is {}, needs one element, or [batch, tokens]", to_string(ids));
  if (c.shape(0).has_rank() && c.shape(0).rank() != 3 && c.shape(0).rank() != 4)
    return error("input is {}, needs rank 3 or 4", to_string(c.shape(0)));
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

Status expand_runtime_rotary(ExpandContext& c) {
  const auto half = c.dim(2, 1), last = c.dim(0, -1);
  if (!half || !last || !c.shape(1).has_rank()) return {};
  const bool flat = c.shape(0).rank() == 3;
  const int64_t rotated = c.attributes().get_int("rotary_embedding_dim", 0);
  int64_t heads = c.attributes().get_int("num_heads", 0);
  // Without rotary_embedding_dim heads are as large as the caches say.
  if (rotated == 0 && flat) {
    if (*half == 0 || *last % (2 * *half) != 0)
      return error("input {} cannot be cut into heads of {} elements, twice the last dimension of cos_cache",
                   to_string(c.shape(0)), 2 * *half);
    heads = *last / (2 * *half);
  }
  Value *x = c.input(0), *ids = c.input(1);
  if (c.shape(1).rank() < 2) {
    Value *batch = c.size_of_dim(x, 0), *tokens = c.size_of_dim(x, flat ? 1 : 2);
    Value* row = c.up_to(c.scalar_of_dim(x, flat ? 1 : 2));
    ids = c.op("Expand", {c.op("Add", {row, ids}), c.concat({batch, tokens}, 0)});
  }
  Attributes rotary =
      make_attributes({{"interleaved", c.attributes().get_int("interleaved", 0)}, {"rotary_embedding_dim", rotated}});
  if (flat) rotary.set("num_heads", heads);
  c.set(0, c.op("RotaryEmbedding", {x, c.input(2), c.input(3), ids}, std::move(rotary)));
  return {};
}

enum EmbedInput : size_t {
  kWords,
  kSegments,
  kWordTable,
  kPositionTable,
  kSegmentTable,
  kEmbedGamma,
  kEmbedBeta,
  kEmbedMask,
  kEmbedPositions
};

Status infer_embed(InferContext& c) {
  for (const size_t i : {kWords, kSegments, kEmbedMask, kEmbedPositions}) {
    SV_TRY(require_dtype(c, i, {DType::i32}));
    SV_TRY(require_rank(c, i, 2));
  }
  if (c.has_input(kSegments) != c.has_input(kSegmentTable))
    return error("segment_ids and segment_embedding must be given together");
  SV_TRY(require_dtype(c, kWordTable, kRealTypes));
  for (const size_t i : {kWordTable, kPositionTable, kSegmentTable}) {
    SV_TRY(require_rank(c, i, 2));
    if (c.has_input(i) && c.dtype(i) != c.dtype(kWordTable))
      return error("all embeddings must be {}", name_of(c.dtype(kWordTable)));
    if (c.has_input(i) && c.shape(i).has_rank() && c.shape(kWordTable).has_rank() &&
        known_different(c.shape(i)[1], c.shape(kWordTable)[1]))
      return error("embeddings {} and {} must be of one width", to_string(c.shape(kWordTable)), to_string(c.shape(i)));
  }
  for (const size_t i : {kEmbedGamma, kEmbedBeta}) {
    SV_TRY(require_last(c, i, kWordTable));
    if (c.dtype(i) != c.dtype(kWordTable))
      return error("gamma and beta must be {} as word_embedding is", name_of(c.dtype(kWordTable)));
  }
  const Shape &ids = c.shape(kWords), &table = c.shape(kWordTable);
  const Dim batch = ids.has_rank() ? ids[0] : Dim(), tokens = ids.has_rank() ? ids[1] : Dim();
  for (const size_t i : {kSegments, kEmbedMask, kEmbedPositions})
    if (c.has_input(i) && c.shape(i).has_rank() &&
        (known_different(c.shape(i)[1], tokens) ||
         (known_different(c.shape(i)[0], batch) && !(i == kEmbedPositions && c.shape(i)[0].value() == 1))))
      return error("{} is {}, must be of the shape {} of input_ids", c.described(i), to_string(c.shape(i)),
                   to_string(ids));
  if (tokens.is_static() && !c.has_input(kEmbedPositions) && c.shape(kPositionTable).has_rank() &&
      c.shape(kPositionTable)[0].is_static() && tokens.value() > c.shape(kPositionTable)[0].value())
    return error("{} tokens, but position_embedding {} has fewer rows", tokens.value(), to_string(c.shape(kPositionTable)));
  const Shape out{batch, tokens, table.has_rank() ? table[1] : Dim()};
  c.set(0, c.dtype(kWordTable), out);
  c.set(1, DType::i32, Shape{batch});
  c.set(2, c.dtype(kWordTable), out);
  return {};
}

Status expand_embed(ExpandContext& c) {
  Value* sum = c.op("Gather", {c.input(kWordTable), c.input(kWords)});
  Value* position = nullptr;
  if (c.has_input(kEmbedPositions))
    position = c.op("Gather", {c.input(kPositionTable), c.input(kEmbedPositions)});
  else
    position = c.op("Slice", {c.input(kPositionTable), c.ints({0}), c.size_of_dim(c.input(kWords), 1), c.ints({0})});
  sum = c.op("Add", {sum, position});
  if (c.has_input(kSegments)) sum = c.op("Add", {sum, c.op("Gather", {c.input(kSegmentTable), c.input(kSegments)})});
  c.set(0, c.op("LayerNormalization", {sum, c.input(kEmbedGamma), c.input(kEmbedBeta)},
                make_attributes({{"axis", int64_t{-1}}, {"epsilon", c.attributes().get_float("epsilon", 1e-12f)}})));
  if (c.has_output(1)) c.set(1, mask_index(c, c.has_input(kEmbedMask) ? c.input(kEmbedMask) : nullptr, c.input(kWords)));
  c.set(2, sum);
  return {};
}

}  // namespace

OpDef define_microsoft_rotary_embedding() {
  return {
      .name = "RotaryEmbedding",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input, position_ids, cos_cache, sin_cache",
      .attributes = {{"interleaved", AttributeKind::kInt, false, 0},
                     {"num_heads", AttributeKind::kInt},
                     {"rotary_embedding_dim", AttributeKind::kInt},
                     {"is_packed_batching", AttributeKind::kInt},
                     {"scale", AttributeKind::kFloat}},
      .expand = expand_runtime_rotary,
      .infer = infer_runtime_rotary,
      .samples = "(float32[2, 3, 16], int64[1]{2}, float32[8, 4], float32[8, 4])"
                 "(float32[1, 2, 3, 4], int64[1, 3]{0, 5, 1}, float32[8, 2], float32[8, 2]) {interleaved = 1}",
  };
}

OpDef define_microsoft_embed_layer_normalization() {
  return {
      .name = "EmbedLayerNormalization",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input_ids, segment_ids?, word_embedding, position_embedding, segment_embedding?, gamma, beta, mask?, position_ids?",
      .outputs = {1, 3},
      .attributes = {{"epsilon", AttributeKind::kFloat, false, 1e-12f}, {"mask_index_type", AttributeKind::kInt}},
      .expand = expand_embed,
      .infer = infer_embed,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(int32[2, 3]{1, 2, 3, 4, 5, 6}, int32[2, 3]{0, 1, 0, 1, 0, 1}, float32[9, 6], float32[5, 6], float32[2, 6], float32[6], "
                 "float32[6], int32[2, 3]{1, 0, 1, 0, 1, 0}) 3",
  };
}

}  // namespace svengine::ops
