#include "engine/ops/generation/beam_scorer_common.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace svengine::ops {
namespace {

/// Indices of the `count` largest, largest first, of equal ones the first; what is not a number counts as minus infinity. Nearly all scores are
/// looked at once, and are not among them.
std::vector<size_t> largest(std::span<const float> scores, size_t count) {
  const auto value = [scores](size_t i) { return std::isnan(scores[i]) ? -std::numeric_limits<float>::infinity() : scores[i]; };
  std::vector<size_t> best;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (best.size() == count) {
      if (!(value(i) > value(best.back()))) continue;
      best.pop_back();
    }
    best.insert(std::find_if(best.begin(), best.end(), [&](size_t other) { return value(i) > value(other); }), i);
  }
  return best;
}

}  // namespace

BeamScorer::BeamScorer(const GenerationSettings& s, float length_penalty, bool early_stopping)
    : beams_(static_cast<size_t>(s.beams)),
      max_length_(static_cast<size_t>(s.max_length)),
      end_token_(s.end_token),
      pad_token_(s.pad_token),
      length_penalty_(length_penalty),
      early_stopping_(early_stopping),
      ended_(static_cast<size_t>(s.batch)) {}

float BeamScorer::penalised(float sum, size_t length) const { return sum / std::pow(static_cast<float>(length), length_penalty_); }

void BeamScorer::keep(Ended& ended, const std::vector<int32_t>& tokens, float sum) const {
  const float score = penalised(sum, tokens.size());
  std::vector<Hypothesis>& all = ended.hypotheses;
  if (all.size() == beams_) {
    if (!(score > all.back().score)) return;
    all.pop_back();
  }
  const auto at = std::find_if(all.begin(), all.end(), [score](const Hypothesis& h) { return score > h.score; });
  all.insert(at, {tokens, score});
}

void BeamScorer::step_prompt(size_t prompt, const Sequences& sequences, std::span<const float> scores, BeamStep& out) {
  const size_t vocabulary = scores.size() / beams_, first = prompt * beams_;
  const std::vector<size_t> best = largest(scores, 2 * beams_);
  size_t next = 0;
  for (size_t j = 0; j < best.size() && next < beams_; ++j) {
    const auto token = static_cast<int32_t>(best[j] % vocabulary);
    const size_t parent = first + best[j] / vocabulary;
    if (token == end_token_) {
      if (j < beams_) keep(ended_[prompt], sequences[parent], scores[best[j]]);
      continue;
    }
    out.scores[first + next] = scores[best[j]];
    out.tokens[first + next] = token;
    out.parents[first + next++] = static_cast<int32_t>(parent);
  }
  Ended& ended = ended_[prompt];
  if (ended.hypotheses.size() == beams_)
    ended.is_done = early_stopping_ || !(ended.hypotheses.back().score < penalised(scores[best[0]], sequences[first].size()));
}

BeamStep BeamScorer::step(const Sequences& sequences, const Tensor& scores) {
  const size_t rows = sequences.size();
  BeamStep out{std::vector<float>(rows, 0.0f), std::vector<int32_t>(rows, pad_token_), std::vector<int32_t>(rows)};
  const size_t each = static_cast<size_t>(scores.count()) / ended_.size();
  for (size_t i = 0; i < rows; ++i) out.parents[i] = static_cast<int32_t>(i);  // of a prompt that is done: they are only padded
  for (size_t prompt = 0; prompt < ended_.size(); ++prompt)
    if (!ended_[prompt].is_done) step_prompt(prompt, sequences, scores.data<float>().subspan(prompt * each, each), out);
  return out;
}

bool BeamScorer::is_done() const {
  return std::all_of(ended_.begin(), ended_.end(), [](const Ended& e) { return e.is_done; });
}

void BeamScorer::finish(const Sequences& sequences, const std::vector<float>& scores, int64_t returned, std::span<int32_t> tokens,
                        std::span<float> best) {
  const auto count = static_cast<size_t>(returned);
  for (size_t prompt = 0; prompt < ended_.size(); ++prompt) {
    Ended& ended = ended_[prompt];
    for (size_t i = prompt * beams_; !ended.is_done && i < (prompt + 1) * beams_; ++i) keep(ended, sequences[i], scores[i]);
    for (size_t k = 0; k < count; ++k) {
      const Hypothesis& h = ended.hypotheses[k];
      std::copy(h.tokens.begin(), h.tokens.end(), tokens.begin() + static_cast<std::ptrdiff_t>((prompt * count + k) * max_length_));
      best[prompt * count + k] = h.score;
    }
  }
}

}  // namespace svengine::ops
