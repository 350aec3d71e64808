#include "validate/compare/compare_tensors.h"

#include <algorithm>
#include <cmath>

#include "validate/compare/element.h"

namespace svengine::validate {
namespace {

bool bytes_equal(const Tensor& a, const Tensor& b, int64_t i) {
  if (a.type() == DType::string) return a.strings()[static_cast<size_t>(i)] == b.strings()[static_cast<size_t>(i)];
  const size_t size = size_of(a.type());
  return std::memcmp(a.raw() + static_cast<size_t>(i) * size, b.raw() + static_cast<size_t>(i) * size, size) == 0;
}

struct ElementDifference {
  double abs = 0, rel = 0;
  bool over = false;
};

double absolute_tolerance(const Tensor& expected) {
  double largest = 0;
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double value = std::abs(element_as_double(expected, i));
    if (std::isfinite(value) && value > largest) largest = value;
  }
  return largest > 0 ? kAtolOfLargest * largest : kAtolOfZeros;
}

ElementDifference element_difference(double got, double expected, double rtol, double atol) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return {};
  ElementDifference out;
  out.abs = std::abs(got - expected);
  if (!std::isfinite(got) || !std::isfinite(expected)) out.abs = HUGE_VAL;
  out.rel = expected == 0 ? 0 : out.abs / std::abs(expected);
  if (std::isinf(out.abs)) out.rel = HUGE_VAL;
  out.over = !(out.abs <= atol + rtol * std::abs(expected)) || std::isinf(out.abs);
  return out;
}

/// Item by item. The places of the worst errors are not told.
Comparison compare_items(const std::vector<Tensor>& got, const std::vector<Tensor>& expected, const Tolerance& tolerance) {
  Comparison out;
  if (got.size() != expected.size()) {
    out.mismatch = fmt::format("holds {} values, expected {}", got.size(), expected.size());
    return out;
  }
  out.passed = true;
  for (size_t i = 0; i < got.size(); ++i) {
    const Comparison item = compare(got[i], expected[i], tolerance);
    if (!item.mismatch.empty()) out.mismatch = fmt::format("value {} {}", i, item.mismatch);
    out.passed = out.passed && item.passed;
    out.count += item.count;
    out.over += item.over;
    out.atol = std::max(out.atol, item.atol);
  }
  return out;
}

}  // namespace

Comparison compare(const Tensor& got, const Tensor& expected, const Tolerance& tolerance) {
  Comparison out;
  out.count = expected.count();
  if (got.type() != expected.type() || got.dims() != expected.dims()) {
    out.mismatch = fmt::format("is {}, expected {}", type_text(got), type_text(expected));
    return out;
  }
  if (is_container(got.type())) return compare_items(got.items(), expected.items(), tolerance);
  const bool exact = !is_float(got.type());
  if (!exact) out.atol = tolerance.atol ? *tolerance.atol : absolute_tolerance(expected);
  for (int64_t i = 0; i < out.count; ++i) {
    ElementDifference d = element_difference(element_as_double(got, i), element_as_double(expected, i), tolerance.rtol, out.atol);
    if (exact) d.over = !bytes_equal(got, expected, i);
    out.over += d.over;
    if (d.abs > out.worst_abs) out.worst_abs = d.abs, out.worst_abs_index = i;
    if (d.rel > out.worst_rel) out.worst_rel = d.rel, out.worst_rel_index = i;
    if (d.over && out.worst_abs_index < 0) out.worst_abs_index = i;  // 64-bit integers that differ below a double's last bit
  }
  out.passed = out.over == 0;
  return out;
}

}  // namespace svengine::validate
