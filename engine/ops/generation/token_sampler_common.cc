#include "engine/ops/generation/token_sampler_common.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace svengine::ops {

void TokenSampler::filter(std::span<float> row) const {
  std::vector<size_t> order(row.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return options_.is_descending ? row[a] > row[b] : row[a] < row[b]; });
  const float most = options_.is_descending ? row[order.front()] : row[order.back()];
  std::vector<float> probabilities;
  float sum = 0;
  for (const size_t i : order) probabilities.push_back(std::exp(row[i] - most));
  for (const float p : probabilities) sum += p;
  float below = 0;  // the probability of all up to this one
  const size_t kept = options_.is_descending ? 1 : options_.min_tokens;
  for (size_t j = 0; j + kept < row.size() || (j == 0 && !options_.is_descending); ++j) {
    below += probabilities[j] / sum;
    if (options_.is_descending && below > options_.top_p) row[order[j + 1]] = options_.filter_value;
    if (!options_.is_descending && below <= 1 - options_.top_p) row[order[j]] = options_.filter_value;
  }
}

int32_t TokenSampler::draw_one(std::span<const float> row) {
  float most = -std::numeric_limits<float>::infinity();
  for (const float score : row)
    if (std::isfinite(score)) most = std::max(most, score);
  std::vector<double> sums;
  double sum = 0;
  for (const float score : row) sums.push_back(sum += std::isfinite(score) ? std::exp(double{score} - double{most}) : 0.0);
  const double drawn = std::uniform_real_distribution<double>()(generator_) * sum;
  const auto at = std::upper_bound(sums.begin(), sums.end(), drawn) - sums.begin();
  return static_cast<int32_t>(std::min<std::ptrdiff_t>(at, static_cast<std::ptrdiff_t>(row.size()) - 1));
}

std::vector<int32_t> TokenSampler::draw(MutableTensor& scores) {
  const auto width = static_cast<size_t>(scores.dims()[1]);
  std::vector<int32_t> out;
  for (size_t i = 0; i < static_cast<size_t>(scores.dims()[0]); ++i) {
    const std::span<float> row = scores.data<float>().subspan(i * width, width);
    filter(row);
    out.push_back(draw_one(row));
  }
  return out;
}

}  // namespace svengine::ops
