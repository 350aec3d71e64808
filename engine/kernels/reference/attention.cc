#include "engine/kernels/reference/attention.h"

#include <cstddef>

#include "engine/kernels/reference/softmax.h"

namespace svengine::kernels {

std::vector<double> reference_attention(const std::vector<double>& q, const std::vector<double>& k, const std::vector<double>& v,
                                        const std::vector<double>& mask, int64_t queries, int64_t keys, int64_t size,
                                        int64_t value_size, double scale) {
  std::vector<double> y(static_cast<size_t>(queries * value_size), 0.0);
  for (int64_t i = 0; i < queries && keys > 0; ++i) {
    std::vector<double> scores(static_cast<size_t>(keys), 0.0);
    for (int64_t j = 0; j < keys; ++j) {
      double sum = 0;
      for (int64_t d = 0; d < size; ++d) sum += q[static_cast<size_t>(i * size + d)] * k[static_cast<size_t>(j * size + d)];
      scores[static_cast<size_t>(j)] = scale * sum + (mask.empty() ? 0.0 : mask[static_cast<size_t>(i * keys + j)]);
    }
    const std::vector<double> weights = reference_softmax(scores, false);
    for (int64_t j = 0; j < keys; ++j)
      for (int64_t d = 0; d < value_size; ++d)
        y[static_cast<size_t>(i * value_size + d)] += weights[static_cast<size_t>(j)] * v[static_cast<size_t>(j * value_size + d)];
  }
  return y;
}

}  // namespace svengine::kernels
