// com.microsoft.MRotaryEmbedding: RotaryEmbedding of tokens with three positions (time, row and column of a picture), of which each pair of
// elements takes one:
//
//     mrope_section [2, 3, 3]       sectioned    t t h h h w w w          interleaved   t h w t h w h w   (t where neither h nor w is due)
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

enum MultimodalInput : size_t { kMrInput, kMrPositions, kMrCos, kMrSin };

/// Which of the three positions pair i takes.
int64_t stream_of(const std::vector<int64_t>& section, bool interleaved, int64_t i) {
  if (!interleaved) return i < section[0] ? 0 : i < section[0] + section[1] ? 1 : 2;
  const int64_t third = i % 3;
  return third > 0 && i < 3 * section[static_cast<size_t>(third)] ? third : 0;
}

Status check_multimodal_attributes(const Attributes& a) {
  const std::vector<int64_t> section = a.get_ints("mrope_section");
  if (section.size() != 3 || std::any_of(section.begin(), section.end(), [](int64_t n) { return n < 0 || n > INT32_MAX; }))
    return error("mrope_section must be three numbers of at least 0");
  const int64_t layout = a.get_int("mrope_layout", 0), rotated = a.get_int("rotary_embedding_dim", 0);
  if (layout != 0 && layout != 1) return error("mrope_layout is {}, must be 0 (sectioned) or 1 (interleaved)", layout);
  if (a.get_int("is_packed_batching", 0) != 0) return unimplemented("is_packed_batching is not supported");
  if (a.get_float("scale", 1) != 1) return unimplemented("scale is {}, only 1 is supported", a.get_float("scale", 1));
  if (rotated < 0 || rotated % 2 != 0) return error("rotary_embedding_dim is {}, must be even", rotated);
  if (rotated > 0 && a.get_int("num_heads", 0) < 1) return error("rotary_embedding_dim needs attribute num_heads");
  return {};
}

Status infer_multimodal_rotary(InferContext& c) {
  SV_TRY(check_multimodal_attributes(c.attributes()));
  SV_TRY(require_rank(c, kMrPositions, 3));
  const std::vector<int64_t> section = c.attributes().get_ints("mrope_section");
  const Dim pairs(section[0] + section[1] + section[2]);
  for (const size_t i : {kMrCos, kMrSin}) {
    SV_TRY(require_rank(c, i, 2));
    if (c.shape(i).has_rank() && known_different(c.shape(i)[1], pairs))
      return error("{} is {}, needs {} columns, the sum of mrope_section", i == kMrCos ? "cos_cache" : "sin_cache", to_string(c.shape(i)),
                   pairs.value());
  }
  const Shape &x = c.shape(kMrInput), &ids = c.shape(kMrPositions);
  c.set(0, c.dtype(0), x);
  if (x.has_rank() && x.rank() != 3 && x.rank() != 4) return error("input is {}, needs rank 3 or 4", to_string(x));
  if (x.has_rank() && x.rank() == 3 && c.attributes().get_int("num_heads", 0) < 1)
    return error("input {} of rank 3 needs attribute num_heads", to_string(x));
  if (ids.has_rank() &&
      (known_different(ids[0], Dim(3)) || (x.has_rank() && (known_different(ids[1], x[0]) || known_different(ids[2], x[x.rank() - 2])))))
    return error("position_ids is {}, needs [3, batch, tokens] of input {}", to_string(ids), to_string(x));
  return {};
}

/// [batch, tokens, pairs]: from each column the row that its position says.
Value* picked_angles(ExpandContext& c, size_t cache) {
  const std::vector<int64_t> section = c.attributes().get_ints("mrope_section");
  const bool interleaved = c.attributes().get_int("mrope_layout", 0) != 0;
  const int64_t pairs = section[0] + section[1] + section[2];
  Value* rows = c.op("Gather", {c.input(cache), c.input(kMrPositions)});  // [3, batch, tokens, pairs]
  std::vector<int64_t> streams;
  for (int64_t i = 0; i < pairs; ++i) streams.push_back(stream_of(section, interleaved, i));
  Value* y = nullptr;
  for (int64_t stream = 0; stream < 3; ++stream) {
    Value* part = c.op("Squeeze", {c.slice(rows, 0, stream, stream + 1), c.ints({0})});
    y = y ? c.op("Where", {c.op("Equal", {c.ints(streams), c.number(static_cast<double>(stream), DType::i64)}), part, y}) : part;
  }
  return y;
}

Status expand_multimodal_rotary(ExpandContext& c) {
  if (!c.shape(kMrInput).has_rank()) return {};
  const int64_t rotated = c.attributes().get_int("rotary_embedding_dim", 0);
  Attributes rotary = make_attributes({{"interleaved", c.attributes().get_int("interleaved", 0)}, {"rotary_embedding_dim", rotated}});
  if (c.shape(kMrInput).rank() == 3) rotary.set("num_heads", c.attributes().get_int("num_heads", 1));
  c.set(0, c.op("RotaryEmbedding", {c.input(kMrInput), picked_angles(c, kMrCos), picked_angles(c, kMrSin)}, std::move(rotary)));
  return {};
}

}  // namespace

OpDef define_microsoft_m_rotary_embedding() {
  return {
      .name = "MRotaryEmbedding",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input, position_ids, cos_cache, sin_cache",
      .attributes = {{"mrope_section", AttributeKind::kInts, true},
                     {"mrope_layout", AttributeKind::kInt, false, 0},
                     {"interleaved", AttributeKind::kInt},
                     {"num_heads", AttributeKind::kInt},
                     {"rotary_embedding_dim", AttributeKind::kInt},
                     {"is_packed_batching", AttributeKind::kInt},
                     {"scale", AttributeKind::kFloat}},
      .expand = expand_multimodal_rotary,
      .infer = infer_multimodal_rotary,
      .types = {{"T", kSingleTypes, {kMrInput, kMrCos, kMrSin}}, {"M", {DType::i64}, {kMrPositions}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 16], int64[3, 2, 3] 0 to 9, float32[9, 4], float32[9, 4]) {mrope_section = [1, 1, 2], num_heads = 2}"
                 "(float32[2, 2, 3, 20], int64[3, 2, 3] 0 to 9, float32[9, 8], float32[9, 8]) {mrope_section = [4, 2, 2], mrope_layout = 1, "
                 "rotary_embedding_dim = 16, num_heads = 2, interleaved = 1}",
  };
}

}  // namespace svengine::ops
