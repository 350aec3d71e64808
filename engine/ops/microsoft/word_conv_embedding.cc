// com.microsoft.WordConvEmbedding: vectors of words from their characters (Kim et al. 2016, "Character-aware neural language models", section
// 2.2): of a word's characters' embeddings a convolution along the word, tanh, and for every filter the largest. A word has as many characters
// as it has numbers above 0, and at least the filter's width of them is read; what begins with 0 is no word, and its vector 0.
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

enum WordInput : size_t { kCharacters, kFilters, kBias, kTable };

Status check_size(const Attributes& a, const char* name, const Dim& is, const char* of) {
  const int64_t given = a.get_int(name, -1);
  if (given == -1 || !known_different(is, Dim(given))) return {};
  return error("{} is {}, but {} says {}", name, given, of, is.value());
}

Status infer_word_embedding(InferContext& c) {
  SV_TRY(require_rank(c, kCharacters, 2));
  SV_TRY(require_rank(c, kFilters, 4));
  SV_TRY(require_rank(c, kTable, 2));
  const Shape &words = c.shape(kCharacters), &w = c.shape(kFilters), &table = c.shape(kTable);
  const Dim filters = w.has_rank() ? w[0] : Dim();
  SV_TRY(require_shape(c, kBias, Shape{filters}));
  if (w.has_rank()) {
    SV_TRY(require_shape(c, kFilters, Shape{filters, Dim(1), w[2], table.has_rank() ? table[1] : Dim()}));
    SV_TRY(check_size(c.attributes(), "embedding_size", w[0], "W"));
    SV_TRY(check_size(c.attributes(), "conv_window_size", w[2], "W"));
    if (w[2].is_static() && words.has_rank() && words[1].is_static() && (w[2].value() < 1 || w[2].value() > words[1].value()))
      return error("W {} is wider than words of {} characters", to_string(w), words[1].value());
  }
  if (table.has_rank()) SV_TRY(check_size(c.attributes(), "char_embedding_size", table[1], "C"));
  c.set(0, DType::f32, Shape{words.has_rank() ? words[0] : Dim(), filters});
  return {};
}

Status expand_word_embedding(ExpandContext& c) {
  const auto width = c.dim(kFilters, 2);
  if (!c.shape(kCharacters).has_rank() || !width) return {};
  Value *characters = c.input(kCharacters), *none = c.cast(c.number(0, DType::i64), DType::i32), *axis = c.ints({1});
  const Attributes dropped = make_attributes({{"keepdims", int64_t{0}}});
  Value* counted = c.op("ReduceSum", {c.cast(c.op("Greater", {characters, none}), DType::i64), axis}, dropped);
  Value* is_word = c.op("Greater", {c.op("Squeeze", {c.slice(characters, 1, 0, 1), axis}), none});
  Value* letters = c.op("Max", {counted, c.number(static_cast<double>(*width), DType::i64)});
  Value* windows = c.op("Sub", {letters, c.number(static_cast<double>(*width - 1), DType::i64)});
  Value* image = c.unsqueeze(c.op("Gather", {c.input(kTable), characters}), {1});               // [words, 1, characters, size]
  Value* found = c.op("Tanh", {c.op("Conv", {image, c.input(kFilters), c.input(kBias)})});      // [words, filters, windows, 1]
  found = c.op("Squeeze", {found, c.ints({3})});
  Value* within = c.op("Less", {c.up_to(c.scalar_of_dim(found, 2)), c.unsqueeze(windows, {1})});
  found = c.op("Where", {c.unsqueeze(within, {1}), found, c.number(-1, DType::f32)});           // tanh has nothing below
  found = c.op("ReduceMax", {found, c.ints({2})}, dropped);
  c.set(0, c.op("Where", {c.unsqueeze(is_word, {1}), found, c.number(0, DType::f32)}));
  return {};
}

}  // namespace

OpDef define_microsoft_word_conv_embedding() {
  OpDef op{
      .name = "WordConvEmbedding",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "Sequence, W, B, C",
      .expand = expand_word_embedding,
      .infer = infer_word_embedding,
      .types = {{"T", {DType::i32}, {kCharacters}}, {"T1", {DType::f32}, {kFilters, kBias, kTable}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-6},
      .samples =
          "(int32[3, 5]{1, 2, 0, 0, 0, 3, 1, 4, 2, 1, 0, 0, 0, 0, 0}, float32[6, 1, 3, 4], float32[6], float32[5, 4])"
          "(int32[1, 2]{1, 0}, float32[1, 1, 2, 1], float32[1], float32[2, 1]) {embedding_size = 1, conv_window_size = 2, char_embedding_size = 1}",
  };
  for (const char* name : {"embedding_size", "conv_window_size", "char_embedding_size"}) op.attributes.push_back({name, AttributeKind::kInt});
  return op;
}

}  // namespace svengine::ops
