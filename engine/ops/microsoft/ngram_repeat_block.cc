// com.microsoft.NGramRepeatBlock: a sequence's next word may not end n words that the sequence has already: the scores of those that would are
// minus infinity.
#include <limits>

#include "engine/ops/lowering.h"
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

Status infer_ngram_block(InferContext& c) {
  if (const int64_t n = c.attributes().get_int("ngram_size", 0); n < 1) return error("ngram_size is {}, must be at least 1", n);
  SV_TRY(require_dtype(c, 0, {DType::i64}));
  SV_TRY(require_dtype(c, 1, {DType::f32}));
  SV_TRY(require_rank(c, 0, 2));
  SV_TRY(require_rank(c, 1, 2));
  if (c.shape(0).has_rank() && c.shape(1).has_rank() && known_different(c.shape(0)[0], c.shape(1)[0]))
    return error("input_ids {} and scores {} need the same first dimension", to_string(c.shape(0)), to_string(c.shape(1)));
  c.set(0, c.dtype(1), c.shape(1));
  return {};
}

/// False: a word that has no score would end such a sequence.
bool block_repeated(std::span<const int64_t> words, std::span<float> scores, size_t n) {
  if (words.size() < n) return true;
  const std::span<const int64_t> last = words.last(n - 1);
  for (size_t i = 0; i + n <= words.size(); ++i) {
    if (!std::equal(last.begin(), last.end(), words.begin() + static_cast<std::ptrdiff_t>(i))) continue;
    const int64_t next = words[i + n - 1];
    if (next < 0 || next >= static_cast<int64_t>(scores.size())) return false;
    scores[static_cast<size_t>(next)] = -std::numeric_limits<float>::infinity();
  }
  return true;
}

Status lower_ngram_block(LowerContext& c) {
  const Dims ids = c.in_dims(0), scores = c.in_dims(1);
  const auto length = static_cast<size_t>(ids[1]), vocabulary = static_cast<size_t>(scores[1]);
  const auto n = static_cast<size_t>(c.attributes().get_int("ngram_size", 1));
  c.emit("ngram_repeat_block", ids[0],
         [=, words = c.in(0), in = c.in(1), out = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
           for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
             const std::span<float> row(run.get<float>(out) + i * vocabulary, vocabulary);
             std::copy_n(run.get<const float>(in) + i * vocabulary, vocabulary, row.begin());
             if (!block_repeated({run.get<const int64_t>(words) + i * length, length}, row, n)) return "input_ids has a word without a score";
           }
           return nullptr;
         });
  return {};
}

}  // namespace

OpDef define_microsoft_n_gram_repeat_block() {
  return {
      .name = "NGramRepeatBlock",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input_ids, scores",
      .attributes = {{"ngram_size", AttributeKind::kInt, true}},
      .infer = infer_ngram_block,
      .lower = lower_ngram_block,
      .samples = "(int64[3, 17] 0 to 4, float32[3, 5]) {ngram_size = 2}"
                 "(int64[1, 2] 0 to 4, float32[1, 5]) {ngram_size = 3}",
  };
}

}  // namespace svengine::ops
