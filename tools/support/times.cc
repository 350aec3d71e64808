#include "tools/support/times.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace svengine::tool {

TimeSummary summarise(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto n = static_cast<double>(times.size());
  const auto ranked = [&](double share) { return times[static_cast<size_t>(std::max(1.0, std::ceil(share * n))) - 1]; };
  TimeSummary out;
  out.min = times.front();
  out.max = times.back();
  out.median = (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
  out.p90 = ranked(0.9);
  out.p99 = ranked(0.99);
  out.sum = std::accumulate(times.begin(), times.end(), 0.0);
  out.mean = out.sum / n;
  return out;
}

}  // namespace svengine::tool
