#include "engine/kernels/reference/attention.h"

#include <Eigen/Core>

#include "engine/kernels/reference/softmax.h"

namespace svengine::kernels {

std::vector<double> reference_attention(const std::vector<double>& q, const std::vector<double>& k, const std::vector<double>& v,
                                        const std::vector<double>& mask, int64_t queries, int64_t keys, int64_t size,
                                        int64_t value_size, double scale) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto matrix = [](const std::vector<double>& x, int64_t rows, int64_t columns) {
    return Eigen::Map<const Matrix>(x.data(), rows, columns);
  };
  std::vector<double> y(static_cast<size_t>(queries * value_size), 0.0);
  if (keys == 0) return y;
  Matrix weights = scale * (matrix(q, queries, size) * matrix(k, keys, size).transpose());
  if (!mask.empty()) weights += matrix(mask, queries, keys);
  for (int64_t i = 0; i < queries; ++i) {
    const std::vector<double> row = reference_softmax({weights.row(i).begin(), weights.row(i).end()}, false);
    weights.row(i) = matrix(row, 1, keys);
  }
  Eigen::Map<Matrix>(y.data(), queries, value_size) = weights * matrix(v, keys, value_size);
  return y;
}

}  // namespace svengine::kernels
