#include "runtime/log/histogram.h"

#include <algorithm>
#include <cmath>

namespace svengine {

Histogram histogram_of(std::span<const float> values, int buckets) {
  Histogram out;
  for (float v : values) {
    if (!std::isfinite(v)) {
      ++out.not_finite;
      continue;
    }
    const double x = v;
    out.least = out.count ? std::min(out.least, x) : x;
    out.most = out.count ? std::max(out.most, x) : x;
    out.sum += x;
    out.sum_of_squares += x * x;
    ++out.count;
  }
  if (out.count == 0) return out;
  const int n = out.least < out.most ? std::max(buckets, 1) : 1;
  const double width = (out.most - out.least) / n;
  for (int i = 1; i < n; ++i) out.limits.push_back(out.least + width * i);
  out.limits.push_back(out.most);
  out.counts.resize(static_cast<size_t>(n));
  for (float v : values)
    if (std::isfinite(v))
      ++out.counts[static_cast<size_t>(std::ranges::lower_bound(out.limits, static_cast<double>(v)) - out.limits.begin())];
  return out;
}

}  // namespace svengine
