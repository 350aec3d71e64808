#include "engine/ops/generation/logits_processor_common.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace svengine::ops {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

std::span<float> row_of(MutableTensor& scores, size_t i) {
  const auto width = static_cast<size_t>(scores.dims()[1]);
  return scores.data<float>().subspan(i * width, width);
}

/// Tokens outside the vocabulary (of a prompt, where vocab_size leaves some out) have no score to change.
void set_score(std::span<float> row, int64_t token, float score) {
  if (token >= 0 && token < static_cast<int64_t>(row.size())) row[static_cast<size_t>(token)] = score;
}

void penalise_repetition(std::span<float> row, const std::vector<int32_t>& sequence, float penalty) {
  std::vector<int32_t> tokens = sequence;
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  for (const int32_t token : tokens) {
    if (token < 0 || static_cast<size_t>(token) >= row.size()) continue;
    float& score = row[static_cast<size_t>(token)];
    score = score < 0 ? score * penalty : score / penalty;
  }
}

/// Of the n tokens that would end in the next one, no other place in the sequence may have the same.
void forbid_ngrams(std::span<float> row, const std::vector<int32_t>& sequence, size_t n) {
  if (sequence.size() < n) return;
  const std::span<const int32_t> all(sequence), last = all.last(n - 1);
  for (size_t i = 0; i + n <= all.size(); ++i)
    if (std::equal(last.begin(), last.end(), all.begin() + static_cast<std::ptrdiff_t>(i))) set_score(row, all[i + n - 1], kLowest);
}

/// `mask` [vocabulary], or [batch, vocabulary] of rows that the beams of a prompt share: where it is 0 nothing may be chosen.
Status forbid_masked(const Tensor& mask, const char* what, int64_t beams, MutableTensor& scores) {
  const int64_t rows = scores.dims()[0], width = scores.dims()[1];
  const bool shared = mask.dims().size() == 1;
  if (mask.count() != (shared ? width : rows / beams * width))
    return error("{} is {}, needs {}", what, to_string(mask.dims()), shared ? to_string(Dims{width}) : to_string(Dims{rows / beams, width}));
  for (int64_t i = 0; i < rows; ++i) {
    const auto allowed = mask.data<int32_t>().subspan(static_cast<size_t>(shared ? 0 : i / beams * width), static_cast<size_t>(width));
    const std::span<float> row = row_of(scores, static_cast<size_t>(i));
    for (size_t j = 0; j < row.size(); ++j)
      if (allowed[j] == 0) row[j] = kLowest;
  }
  return {};
}

/// The logarithm of the sum of the exponentials of those that may be chosen; the lowest number of none.
float log_sum_exp(std::span<const float> scores) {
  const float most = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const float score : scores)
    if (score > kLowest) sum += std::exp(double{score} - most);
  return sum > 0 ? static_cast<float>(std::log(sum) + most) : kLowest;
}

class TimestampRules {
 public:
  TimestampRules(const SpeechTokens& tokens, int32_t end_token, std::span<float> row, const std::vector<int32_t>& sequence)
      : tokens_(tokens), end_token_(end_token), row_(row), sequence_(sequence) {}

  void apply() {
    forbid_special();
    forbid_unpaired();
    const int64_t width = static_cast<int64_t>(row_.size());
    if (sequence_.size() == prompt_) forbid(tokens_.first_timestamp + kLastFirst + 1, width);
    const auto text = row_.first(static_cast<size_t>(tokens_.first_timestamp)), times = row_.subspan(text.size());
    if (log_sum_exp(times) > *std::max_element(text.begin(), text.end())) forbid(0, tokens_.first_timestamp);
  }

 private:
  static constexpr int64_t kLastFirst = 50;  // the first timestamp is within the first second: 50 steps of 20 ms

  bool is_timestamp(int32_t token) const { return token >= tokens_.first_timestamp; }
  void forbid(int64_t begin, int64_t end) {
    for (int64_t j = std::max<int64_t>(begin, 0); j < std::min(end, static_cast<int64_t>(row_.size())); ++j) row_[static_cast<size_t>(j)] = kLowest;
  }

  void forbid_special() {
    prompt_ = 0;
    while (prompt_ < sequence_.size() && !is_timestamp(sequence_[prompt_])) ++prompt_;
    prompt_ = std::min(prompt_ + 1, sequence_.size());  // up to the first timestamp
    set_score(row_, tokens_.no_timestamps, kLowest);
    set_score(row_, tokens_.start_of_model, kLowest);
    if (sequence_.size() <= prompt_) return;
    for (const int64_t token : {tokens_.start, tokens_.translate, tokens_.transcribe}) set_score(row_, token, kLowest);
  }

  void forbid_unpaired() {
    const int64_t width = static_cast<int64_t>(row_.size());
    const bool last = !sequence_.empty() && is_timestamp(sequence_.back());
    const bool before = sequence_.size() <= prompt_ || is_timestamp(sequence_[sequence_.size() - 2]);
    if (last && before) forbid(tokens_.first_timestamp, width);
    if (last && !before) forbid(0, end_token_);
    const auto latest = std::find_if(sequence_.rbegin(), sequence_.rend(), [this](int32_t token) { return is_timestamp(token); });
    if (latest != sequence_.rend()) forbid(tokens_.first_timestamp, *latest + (last && !before ? 0 : 1));
  }

  const SpeechTokens& tokens_;
  int32_t end_token_;
  std::span<float> row_;
  const std::vector<int32_t>& sequence_;
  size_t prompt_ = 0;
};

}  // namespace

Result<MutableTensor> last_logits(const Tensor& logits, GenerationSettings& s) {
  const Dims& dims = logits.dims();
  const int64_t rows = s.batch * s.beams;
  if (logits.type() != DType::f32 || dims.size() != 3 || (dims[0] != rows && dims[0] != s.batch) || dims[1] < 1)
    return error("the logits are {}{}, need to be float32[{}, positions, vocabulary]", name_of(logits.type()), to_string(dims), rows);
  if (s.vocabulary == 0) s.vocabulary = dims[2];
  if (s.vocabulary > dims[2] || s.vocabulary < 1) return error("vocab_size is {}, but there are logits of {} tokens", s.vocabulary, dims[2]);
  if (s.end_token >= s.vocabulary) return error("eos_token_id is {}, but there are {} tokens", s.end_token, s.vocabulary);
  SV_ASSIGN(MutableTensor scores, Tensor::allocate(DType::f32, {rows, s.vocabulary}));
  const int64_t shared = rows / dims[0];
  for (int64_t i = 0; i < rows; ++i) {
    const auto last = static_cast<size_t>((i / shared * dims[1] + dims[1] - 1) * dims[2]);
    std::copy_n(logits.data<float>().begin() + static_cast<std::ptrdiff_t>(last), s.vocabulary, row_of(scores, static_cast<size_t>(i)).begin());
  }
  return scores;
}

Status process_scores(const GenerationSettings& s, const Sequences& sequences, bool first, MutableTensor& scores) {
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (s.repetition_penalty != 1) penalise_repetition(row_of(scores, i), sequences[i], s.repetition_penalty);
    if (s.ngram_size > 0) forbid_ngrams(row_of(scores, i), sequences[i], static_cast<size_t>(s.ngram_size));
  }
  if (s.vocabulary_mask.defined()) SV_TRY(forbid_masked(s.vocabulary_mask, "vocab_mask", s.beams, scores));
  if (s.first_mask.defined() && first) SV_TRY(forbid_masked(s.first_mask, "prefix_vocab_mask", s.beams, scores));
  if (static_cast<int64_t>(sequences[0].size()) < s.min_length)
    for (size_t i = 0; i < sequences.size(); ++i) set_score(row_of(scores, i), s.end_token, kLowest);
  if (s.temperature > 0 && s.temperature != 1)
    for (float& score : scores.data<float>()) score /= s.temperature;
  if (s.presence_mask.defined() && s.presence_penalty != 0) {
    if (s.presence_mask.count() != scores.count())
      return error("presence_mask is {}, needs {}", to_string(s.presence_mask.dims()), to_string(scores.dims()));
    const auto present = s.presence_mask.data<int32_t>();
    const std::span<float> all = scores.data<float>();
    for (size_t i = 0; i < all.size(); ++i) all[i] -= static_cast<float>(present[i]) * s.presence_penalty;
  }
  return {};
}

Status process_timestamps(const SpeechTokens& tokens, int32_t end_token, const Sequences& sequences, MutableTensor& scores) {
  if (tokens.first_timestamp < 1 || tokens.first_timestamp >= scores.dims()[1])
    return error("the first timestamp is token {}, but there are {} tokens", tokens.first_timestamp, scores.dims()[1]);
  for (size_t i = 0; i < sequences.size(); ++i) TimestampRules(tokens, end_token, row_of(scores, i), sequences[i]).apply();
  return {};
}

void log_softmax_rows(MutableTensor& scores) {
  for (size_t i = 0; i < static_cast<size_t>(scores.dims()[0]); ++i) {
    const std::span<float> row = row_of(scores, i);
    const float most = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const float score : row) sum += std::exp(score - most);
    const float log_sum = static_cast<float>(std::log(sum));
    for (float& score : row) score = score - most - log_sum;
  }
}

}  // namespace svengine::ops
