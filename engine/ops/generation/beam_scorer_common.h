// Beam search: of every prompt the likeliest few sequences are followed, and the likeliest that have ended are kept.
#pragma once
#include "engine/ops/generation/generation_common.h"

namespace svengine::ops {

/// What becomes of the beams: sequence i continues that of row parents[i] by tokens[i], and has such a sum of logarithms.
struct BeamStep {
  std::vector<float> scores;
  std::vector<int32_t> tokens, parents;
};

class BeamScorer {
 public:
  BeamScorer(const GenerationSettings& s, float length_penalty, bool early_stopping);

  /// `scores` [sequences, vocabulary]: sums of logarithms of probabilities, with the next token. Chooses 2 * beams of each prompt: those that end
  /// are kept as hypotheses, the first others are the next beams.
  BeamStep step(const Sequences& sequences, const Tensor& scores);
  /// No beam can become better than what has ended, of any prompt.
  bool is_done() const;
  /// What is still open counts as ended. The best `returned` of each prompt go to tokens [batch, returned, max_length], which are padded already, and
  /// scores [batch, returned], best first.
  void finish(const Sequences& sequences, const std::vector<float>& scores, int64_t returned, std::span<int32_t> tokens, std::span<float> best);

 private:
  struct Hypothesis {
    std::vector<int32_t> tokens;
    float score;
  };
  /// What has ended of one prompt, best first.
  struct Ended {
    std::vector<Hypothesis> hypotheses;
    bool is_done = false;
  };

  float penalised(float sum, size_t length) const;
  void keep(Ended& ended, const std::vector<int32_t>& tokens, float sum) const;
  void step_prompt(size_t prompt, const Sequences& sequences, std::span<const float> scores, BeamStep& out);

  size_t beams_, max_length_;
  int32_t end_token_, pad_token_;
  float length_penalty_;
  bool early_stopping_;
  std::vector<Ended> ended_;  // of each prompt
};

}  // namespace svengine::ops
