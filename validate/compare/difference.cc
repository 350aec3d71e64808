#include "validate/compare/difference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "validate/compare/element.h"

namespace svengine::validate {
namespace {

/// Element access: float32 where it lies, the others by their type.
struct FloatsOf {
  const float* data;
  double operator()(int64_t i) const { return static_cast<double>(data[i]); }
};
struct NumbersOf {
  const Tensor& tensor;
  double operator()(int64_t i) const { return element_as_double(tensor, i); }
};

template <class Call>
auto with_elements(const Tensor& tensor, Call&& call) {
  if (tensor.type() == DType::f32 && tensor.is_aligned()) return call(FloatsOf{tensor.data<float>().data()});
  return call(NumbersOf{tensor});
}

/// The decade of error / largest, from its binary exponent: log10 of every element would take longer than the network.
int bin_of(double ratio) {
  static constexpr double kDecades[] = {1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1};
  const int exponent = static_cast<int>(std::bit_cast<uint64_t>(ratio) >> 52) - 1023;
  int decade = std::clamp((exponent * 1233 >> 12) + 9, 0, 9);
  while (decade < 10 && ratio >= kDecades[decade]) ++decade;
  while (decade > 0 && ratio < kDecades[decade - 1]) --decade;
  return Difference::kTiny + decade;
}

class Differ {
 public:
  Differ(const Bound& bound, double largest) : per_largest_(largest > 0 ? 1 / largest : 1) {
    out_.bound = bound;
    out_.largest = largest;
  }

  void add(int64_t i, double got, double expected) {
    if (got == expected) {
      ++out_.bins[Difference::kEqual];
      out_.got_infinities += std::isinf(got);
      out_.expected_infinities += std::isinf(expected);
      return;
    }
    const double error = std::abs(got - expected);
    if (!std::isfinite(error)) return add_not_finite(i, got, expected);
    ++out_.bins[static_cast<size_t>(bin_of(error * per_largest_))];
    out_.over += !(error <= out_.bound.atol + out_.bound.rtol * std::abs(expected));
    sum_ += error;
    keep({i, got, expected, error});
  }

  Difference finish(const Dims& dims, int64_t count) {
    out_.dims = dims;
    out_.count = count;
    const int64_t finite = count - out_.bins[Difference::kNotFinite];
    out_.mean = finite ? sum_ / static_cast<double>(finite) : 0;
    std::sort(out_.elements.begin(), out_.elements.end(), is_worse);
    out_.worst = out_.elements.empty() ? 0 : out_.elements.front().error;
    return std::move(out_);
  }

 private:
  static bool is_worse(const Difference::Element& a, const Difference::Element& b) {
    return a.error != b.error ? a.error > b.error : a.index < b.index;
  }

  void add_not_finite(int64_t i, double got, double expected) {
    out_.got_nans += std::isnan(got);
    out_.expected_nans += std::isnan(expected);
    out_.got_infinities += std::isinf(got);
    out_.expected_infinities += std::isinf(expected);
    if (std::isnan(got) && std::isnan(expected)) {
      ++out_.bins[Difference::kEqual];
      return;
    }
    ++out_.bins[Difference::kNotFinite];
    ++out_.over;
    keep({i, got, expected, std::numeric_limits<double>::infinity()});
  }

  /// The list is short: its least bad element is found by looking at all.
  void keep(const Difference::Element& element) {
    if (element.error <= least_) return;
    auto& list = out_.elements;
    if (list.size() < Difference::kWorst) {
      list.push_back(element);
    } else {
      *std::max_element(list.begin(), list.end(), is_worse) = element;
    }
    if (list.size() == Difference::kWorst) least_ = std::max_element(list.begin(), list.end(), is_worse)->error;
  }

  Difference out_;
  double per_largest_, sum_ = 0, least_ = 0;
};

Difference mismatch_of(std::string text, const Tensor& expected) {
  Difference out;
  out.mismatch = std::move(text);
  out.dims = expected.dims();
  out.count = is_handle(expected.type()) ? 0 : expected.count();
  return out;
}

bool same_items(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || a.dims() != b.dims()) return false;
  if (a.type() == DType::string) return std::ranges::equal(a.strings(), b.strings());
  if (is_handle(a.type())) return std::ranges::equal(a.items(), b.items(), same_items);
  // Beside another kernel set, numbers in a sequence have rounding errors too: those of a type's precision are not told.
  const Difference d = difference_of(a, b, {1e-3, 1e-5 * largest_of(b)});
  return d.passed();
}

}  // namespace

std::string Difference::bin_title(int bin) {
  if (bin == kEqual) return "equal";
  if (bin == kTiny) return "below 1e-9";
  if (bin == kHuge) return "1 and more";
  if (bin == kNotFinite) return "not finite";
  return fmt::format("1e{}", bin - kHuge);
}

double Difference::relative() const { return worst == 0 ? 0 : largest > 0 ? worst / largest : worst; }

double largest_of(const Tensor& tensor) {
  if (is_handle(tensor.type())) return 0;
  return with_elements(tensor, [&](auto at) {
    double largest = 0;
    for (int64_t i = 0, n = tensor.count(); i < n; ++i) {
      const double x = std::abs(at(i));
      if (x > largest && x <= std::numeric_limits<double>::max()) largest = x;
    }
    return largest;
  });
}

Difference difference_of(const Tensor& got, const Tensor& expected, const Bound& bound) {
  const bool handles = is_handle(got.type()) || is_handle(expected.type());
  if (got.dims() != expected.dims() || (handles && got.type() != expected.type()))
    return mismatch_of(fmt::format("is {}, expected {}", type_text(got), type_text(expected)), expected);
  if (handles) return same_items(got, expected) ? Difference() : mismatch_of("is another one than expected", expected);
  return with_elements(expected, [&](auto expected_at) {
    return with_elements(got, [&](auto got_at) {
      Differ differ(bound, largest_of(expected));
      const int64_t count = expected.count();
      for (int64_t i = 0; i < count; ++i) differ.add(i, got_at(i), expected_at(i));
      return differ.finish(expected.dims(), count);
    });
  });
}

}  // namespace svengine::validate
