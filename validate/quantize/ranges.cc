#include "validate/quantize/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace svengine::validate {

Range union_of(const Range& a, const Range& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

void RangeMeter::add(const Tensor& tensor) {
  for (const float x : tensor.data<float>()) {
    if (!std::isfinite(x)) {
      ++not_finite_;
      continue;
    }
    low_ = count_ ? std::min(low_, x) : x;
    high_ = count_ ? std::max(high_, x) : x;
    ++count_;
  }
}

Histogram::Histogram(Range range, bool absolute) : low_(range.low), width_(0), absolute_(absolute), counts_(kBins) {
  double high = range.high;
  if (absolute) low_ = 0, high = std::max(std::abs(range.low), std::abs(range.high));
  width_ = (high - low_) / kBins;
}

void Histogram::add(const Tensor& tensor) {
  const double inverse = width_ > 0 ? 1 / width_ : 0;
  constexpr double kLast = kBins - 1;
  for (const float x : tensor.data<float>()) {
    const double distance = (absolute_ ? std::abs(static_cast<double>(x)) : static_cast<double>(x)) - low_;
    const double bin = distance * inverse;
    ++counts_[bin > 0 ? static_cast<size_t>(std::min(bin, kLast)) : 0];  // NaN, of a network that draws anew, counts as the least
  }
}

Range percentile_range(const Histogram& histogram, double percentile) {
  const std::vector<int64_t>& counts = histogram.counts();
  const auto total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  const double cut = total * (100 - percentile) / 200;
  size_t first = 0, last = counts.size();
  for (double below = 0; first + 1 < last && below + static_cast<double>(counts[first]) <= cut; ++first) below += static_cast<double>(counts[first]);
  for (double above = 0; last > first + 1 && above + static_cast<double>(counts[last - 1]) <= cut; --last)
    above += static_cast<double>(counts[last - 1]);
  return {histogram.edge(first), histogram.edge(last)};
}

namespace {

/// KL divergence of the first `kept` bins, the others added to the last of them, from the same merged into `steps`.
double divergence_at(std::span<const double> bins, size_t kept, size_t steps, double outside) {
  double total_p = outside, total_q = 0, sum = 0;
  for (size_t i = 0; i < kept; ++i) total_p += bins[i], total_q += bins[i];
  if (total_p <= 0 || total_q <= 0) return std::numeric_limits<double>::infinity();
  size_t begin = 0;
  for (size_t step = 0; step < steps; ++step) {
    const size_t end = (step + 1) * kept / steps;
    double merged = 0, filled = 0;
    for (size_t i = begin; i < end; ++i) merged += bins[i], filled += bins[i] > 0;
    for (size_t i = begin; i < end; ++i) {
      const double p = (bins[i] + (i + 1 == kept ? outside : 0)) / total_p;
      if (p <= 0) continue;
      if (bins[i] <= 0) return std::numeric_limits<double>::infinity();  // the steps say that nothing is there
      sum += p * std::log(p / (merged / filled / total_q));
    }
    begin = end;
  }
  return sum;
}

}  // namespace

Range entropy_range(const Histogram& histogram, const Range& all) {
  constexpr size_t kSteps = 128;  // of 8 bits with a sign
  const size_t steps = all.low >= 0 || all.high <= 0 ? 2 * kSteps : kSteps;
  std::vector<double> bins(histogram.counts().begin(), histogram.counts().end());
  bins[0] = bins[1];
  std::vector<double> outside(bins.size() + 1);
  for (size_t i = bins.size(); i-- > 0;) outside[i] = outside[i + 1] + bins[i];
  double best = std::numeric_limits<double>::infinity();
  size_t at = bins.size();
  for (size_t kept = steps; kept <= bins.size(); ++kept)
    if (const double d = divergence_at(bins, kept, steps, outside[kept]); d <= best) best = d, at = kept;
  const double threshold = std::isfinite(best) ? histogram.edge(at) : histogram.edge(bins.size());
  return {std::max(all.low, -threshold), std::min(all.high, threshold)};
}

}  // namespace svengine::validate
