// A token drawn from those that are likely.
#pragma once
#include <random>
#include <vector>

#include "engine/base/tensor.h"

namespace svengine::ops {

/// Draws are those of ONNX Runtime's kernel for the same seed, bit for bit: std::minstd_rand0, whose numbers the C++ standard fixes.
class TokenSampler {
 public:
  static constexpr float kFilterValue = -1e20f;

  struct Options {
    float top_p = 0;            // the likeliest tokens whose probabilities sum to this are kept
    float filter_value = kFilterValue;  // the score of the others
    size_t min_tokens = 0;      // so many are kept at least; not where is_descending
    bool is_descending = false;  // sums begin with the likeliest token, and keep the one that passes top_p; attribute custom
  };

  TokenSampler(const Options& options, uint32_t seed) : options_(options), generator_(seed) {}

  /// A token for each row of scores [sequences, vocabulary]; those that are not kept become filter_value.
  std::vector<int32_t> draw(MutableTensor& scores);

 private:
  void filter(std::span<float> row) const;
  int32_t draw_one(std::span<const float> row);

  Options options_;
  std::minstd_rand0 generator_;
};

}  // namespace svengine::ops
