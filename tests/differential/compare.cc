#include "tests/differential/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/differential/disturb.h"
#include "tests/support/compare.h"

namespace svengine::differential {
namespace {

/// Most differences are explained by a few runs. The most are for what one run in ten shows (a sum that is below 0 and has no square root) in graphs
/// that were found among hundreds of thousands because few of theirs did.
constexpr int kFirstRuns = 6, kMoreRuns = 40, kAllRuns = 200;
/// Of what disturbances move a result, which are random: the largest of some is not the largest of all.
constexpr double kMargin = 8;

double precision(DType type) {
  switch (type) {
    case DType::f16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    default:
      return 0;
  }
}

struct Tolerance {
  double rtol = 0, atol = 0;
};

Tolerance tolerance(const Value& value) {
  if (!is_float(value.type.dtype) || !value.producer()) return {};
  const OpDef& op = value.producer()->op();
  return {std::max(op.tolerance.rtol, 2 * precision(value.type.dtype)), op.tolerance.atol};
}

bool same_kind(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return true;
}

/// How far the elements of one value were moved; infinity where that is more than a distance.
struct Movement {
  std::vector<double> wanted, most;

  explicit Movement(const Tensor& t) : wanted(tests::to_doubles(t)), most(wanted.size(), 0) {}

  void add(const Values& run, const Value* value) {
    const auto it = run.find(value);
    if (it == run.end() || it->second.count() != static_cast<int64_t>(wanted.size())) {
      std::fill(most.begin(), most.end(), HUGE_VAL);
      return;
    }
    const std::vector<double> moved = tests::to_doubles(it->second);
    const bool real = is_float(it->second.type());
    for (size_t i = 0; i < moved.size(); ++i) {
      const bool alike = real ? same_kind(moved[i], wanted[i]) : moved[i] == wanted[i];
      if (!alike)
        most[i] = HUGE_VAL;
      else if (std::isfinite(moved[i]))
        most[i] = std::max(most[i], std::abs(moved[i] - wanted[i]));
    }
  }

  /// The mean of the finite ones: some elements hardly move in a few runs, by accident.
  double usual() const {
    double sum = 0;
    size_t count = 0;
    for (double m : most)
      if (std::isfinite(m)) sum += m, ++count;
    return count ? sum / static_cast<double>(count) : 0;
  }
};

std::string first_excess(const Difference& d, const Movement& movement, const Tensor& wanted) {
  if (d.got.type() != wanted.type() || d.got.dims() != wanted.dims())
    return fmt::format("{}: %{} is {}[{}] instead of {}[{}]\n", d.what, d.value->name(), name_of(d.got.type()),
                       to_string(d.got.dims()), name_of(wanted.type()), to_string(wanted.dims()));
  const std::vector<double> got = tests::to_doubles(d.got);
  const Tolerance t = tolerance(*d.value);
  const double usual = movement.usual();
  size_t count = 0, worst = 0;
  double excess = -1;
  for (size_t i = 0; i < got.size(); ++i) {
    const double w = movement.wanted[i], allowed = t.atol + t.rtol * std::abs(w) + kMargin * std::max(movement.most[i], usual);
    if (std::isinf(movement.most[i]) || got[i] == w || (std::isnan(got[i]) && std::isnan(w))) continue;
    const bool fits = is_float(wanted.type()) && same_kind(got[i], w) && std::abs(got[i] - w) <= allowed;
    if (fits) continue;
    const double over = same_kind(got[i], w) ? std::abs(got[i] - w) : HUGE_VAL;
    if (over > excess) excess = over, worst = i;
    ++count;
  }
  if (count == 0) return {};
  return fmt::format("{}: %{}: {} of {} elements differ, the worst at {}: {} instead of {} (disturbed by {})\n", d.what,
                     d.value->name(), count, got.size(), worst, got[worst], movement.wanted[worst], movement.most[worst]);
}

std::string remaining(const std::vector<Difference>& differences, const std::vector<Movement>& movements, const Values& wanted) {
  std::string text;
  for (size_t i = 0; i < differences.size(); ++i)
    text += first_excess(differences[i], movements[i], wanted.at(differences[i].value));
  return text;
}

}  // namespace

bool are_finite(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](const auto& value) {
    if (!is_float(value.second.type())) return true;
    const std::vector<double> numbers = tests::to_doubles(value.second);
    return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
  });
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || a.dims() != b.dims()) return false;
  if (a.byte_size() == 0 || std::memcmp(a.raw(), b.raw(), a.byte_size()) == 0) return true;
  if (!is_float(a.type())) return false;
  const std::vector<double> x = tests::to_doubles(a), y = tests::to_doubles(b);
  for (size_t i = 0; i < x.size(); ++i)
    if (std::isnan(x[i]) ? !std::isnan(y[i]) : std::memcmp(&x[i], &y[i], sizeof(double)) != 0) return false;
  return true;
}

bool agrees(const Value& value, const Tensor& got, const Tensor& wanted) {
  if (same_bits(got, wanted)) return true;
  const Tolerance t = tolerance(value);
  return tests::all_close(got, wanted, t.rtol, t.atol).ok();
}

std::string unexplained(const Graph& graph, const Values& wanted, const std::vector<Difference>& differences,
                        const kernels::KernelTable& kernels, bool loose) {
  std::vector<Movement> movements;
  for (const Difference& d : differences) movements.emplace_back(wanted.at(d.value));
  std::string left;
  for (int run = 0; run < kAllRuns; ++run) {
    const Values moved = compute_disturbed(graph, wanted, kernels, static_cast<uint64_t>(run), loose);
    for (size_t i = 0; i < differences.size(); ++i) movements[i].add(moved, differences[i].value);
    if (run + 1 != kFirstRuns && run + 1 != kMoreRuns && run + 1 != kAllRuns) continue;
    left = remaining(differences, movements, wanted);
    if (left.empty()) break;
  }
  return left;
}

}  // namespace svengine::differential
