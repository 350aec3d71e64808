#include "engine/kernels/reference/softmax.h"

#include <cmath>
#include <limits>

namespace svengine::kernels {

std::vector<double> reference_softmax(const std::vector<double>& x, bool log) {
  double maximum = -std::numeric_limits<double>::infinity();
  for (double v : x)
    if (std::isnan(v) || v > maximum) maximum = v;
  for (double v : x)
    if (std::isnan(v)) maximum = v;
  double sum = 0;
  for (double v : x) sum += std::exp(v - maximum);
  std::vector<double> y;
  for (double v : x)
    y.push_back(log ? v - maximum - static_cast<double>(std::log(sum))
                    : static_cast<double>(std::exp(v - maximum) / sum));
  return y;
}

int64_t reference_argmax(const std::vector<double>& x) {
  size_t best = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) return static_cast<int64_t>(i);
    if (x[i] > x[best]) best = i;
  }
  return static_cast<int64_t>(best);
}

}  // namespace svengine::kernels
