#include "engine/kernels/reference/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace svengine::kernels {

namespace {

// NaN wins over everything.
double extreme(const std::vector<double>& terms, double start, bool largest) {
  double best = start;
  for (double t : terms) {
    if (std::isnan(t)) return t;
    if (largest ? t > best : t < best) best = t;
  }
  return best;
}

double total(const std::vector<double>& terms) {
  double sum = 0;
  for (double t : terms) sum += t;
  return static_cast<double>(sum);
}

std::vector<double> map(std::vector<double> terms, double (*f)(double)) {
  for (double& t : terms) t = f(t);
  return terms;
}

double absolute(double x) { return std::fabs(x); }
double square(double x) { return x * x; }

double reduce(const std::vector<double>& terms, ReduceOp op, bool floating) {
  const double infinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case ReduceOp::kSum:
      return total(terms);
    case ReduceOp::kMean: {
      if (terms.empty() && !floating) return 0;
      const double mean = total(terms) / static_cast<double>(terms.size());
      return floating ? mean : std::trunc(mean);
    }
    case ReduceOp::kMax:
      return extreme(terms, -infinity, true);
    case ReduceOp::kMin:
      return extreme(terms, infinity, false);
    case ReduceOp::kProd:
      return static_cast<double>(std::accumulate(terms.begin(), terms.end(), 1.0, std::multiplies<>()));
    case ReduceOp::kL1:
      return total(map(terms, absolute));
    case ReduceOp::kL2:
      return std::sqrt(total(map(terms, square)));
    case ReduceOp::kLogSum:
      return std::log(total(terms));
    case ReduceOp::kLogSumExp: {
      const double top = extreme(terms, -infinity, true), shift = std::isinf(top) ? 0 : top;
      double sum = 0;
      for (double t : terms) sum += std::exp(t - shift);
      return static_cast<double>(std::log(sum)) + shift;
    }
    case ReduceOp::kSumSquare:
      return total(map(terms, square));
  }
  return 0;
}

bool better(double a, double b, bool largest, bool nan_is_best) {
  if (std::isnan(a) || std::isnan(b))
    return nan_is_best ? std::isnan(a) && !std::isnan(b) : !std::isnan(a) && std::isnan(b);
  return largest ? a > b : a < b;
}

}  // namespace

ReferenceReduction reference_reduce(const std::vector<double>& x, const ReduceArgs& args) {
  int64_t outputs = 1;
  for (int d = 0; d < args.rank; ++d) outputs *= args.reduced[d] ? 1 : args.extent[d];
  std::vector<std::vector<double>> terms(static_cast<size_t>(outputs));
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), to = 0, scale = 1;
    for (int d = args.rank - 1; d >= 0; --d) {
      if (!args.reduced[d]) {
        to += rest % args.extent[d] * scale;
        scale *= args.extent[d];
      }
      rest /= args.extent[d];
    }
    terms[static_cast<size_t>(to)].push_back(x[i]);
  }
  ReferenceReduction result;
  for (const std::vector<double>& t : terms) {
    const double y = reduce(t, args.op, args.type == DType::f32 || args.type == DType::f64);
    result.y.push_back(y);
    const double sum = total(map(t, absolute));
    if (args.op == ReduceOp::kSum)
      result.magnitude.push_back(sum);
    else if (args.op == ReduceOp::kMean)
      result.magnitude.push_back(sum / static_cast<double>(t.size()));
    else
      result.magnitude.push_back(
          std::max(std::fabs(y), args.op == ReduceOp::kLogSumExp || args.op == ReduceOp::kLogSum ? 1.0 : 0.0));
  }
  return result;
}

int64_t reference_arg(const std::vector<double>& line, bool largest, bool last) {
  size_t best = 0;
  for (size_t i = 1; i < line.size(); ++i)
    if (better(line[i], line[best], largest, true) || (last && !better(line[best], line[i], largest, true))) best = i;
  return static_cast<int64_t>(best);
}

std::vector<int64_t> reference_top_k(const std::vector<double>& line, int64_t k, bool largest) {
  std::vector<int64_t> order(line.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return better(line[static_cast<size_t>(a)], line[static_cast<size_t>(b)], largest, largest);
  });
  order.resize(static_cast<size_t>(k));
  return order;
}

}  // namespace svengine::kernels
