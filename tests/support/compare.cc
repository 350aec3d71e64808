#include "tests/support/compare.h"

#include <cmath>
#include <cstring>

#include "engine/base/number_at.h"

namespace svengine::tests {
namespace {

double excess(double actual, double expected, double rtol, double atol) {
  if (std::isnan(actual) && std::isnan(expected)) return 0;
  if (actual == expected) return 0;
  const double difference = std::abs(actual - expected), allowed = atol + rtol * std::abs(expected);
  return difference <= allowed ? 0 : std::isfinite(difference) ? difference - allowed : HUGE_VAL;
}

}  // namespace

std::vector<double> to_doubles(const Tensor& tensor) {
  std::vector<double> out(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = number_at(tensor.type(), tensor.raw(), static_cast<int64_t>(i));
  return out;
}

namespace {

/// Strings, sequences, optionals and maps, which are alike when all they hold is.
Status handles_close(const Tensor& actual, const Tensor& expected, double rtol, double atol) {
  if (actual.type() == DType::string) {
    for (size_t i = 0; i < expected.strings().size(); ++i)
      if (actual.strings()[i] != expected.strings()[i])
        return error("string {} is '{}', expected '{}'", i, actual.strings()[i], expected.strings()[i]);
    return {};
  }
  if (actual.items().size() != expected.items().size()) return error("holds {} values, expected {}", actual.items().size(), expected.items().size());
  for (size_t i = 0; i < expected.items().size(); ++i) {
    Status same = all_close(actual.items()[i], expected.items()[i], rtol, atol);
    if (!same.ok()) return std::move(same).error().in(fmt::format("value {}", i));
  }
  return {};
}

}  // namespace

Status all_close(const Tensor& actual, const Tensor& expected, double rtol, double atol) {
  if (actual.type() != expected.type()) return error("is {}, expected {}", name_of(actual.type()), name_of(expected.type()));
  if (actual.dims() != expected.dims())
    return error("has shape {}, expected {}", to_string(actual.dims()), to_string(expected.dims()));
  if (is_handle(actual.type())) return handles_close(actual, expected, rtol, atol);
  if (!is_float(actual.type())) rtol = atol = 0;
  const std::vector<double> a = to_doubles(actual), e = to_doubles(expected);
  size_t worst = 0, count = 0;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = excess(a[i], e[i], rtol, atol);
    if (x <= 0) continue;
    ++count;
    if (x > most) most = x, worst = i;
  }
  if (count == 0) return {};
  return error("{} of {} elements differ, the worst at flat index {}: {} instead of {}", count, a.size(), worst,
               a[worst], e[worst]);
}

}  // namespace svengine::tests
