// Summary of a series of times.
#pragma once
#include <vector>

namespace svengine::tool {

struct TimeSummary {
  double min = 0, median = 0, mean = 0, p90 = 0, p99 = 0, max = 0, sum = 0;
};

/// Percentiles are the smallest time that at least that share of the times does not exceed (nearest rank); the median of an
/// even number of times is the mean of the middle two. `times` is not empty.
TimeSummary summarise(std::vector<double> times);

}  // namespace svengine::tool
