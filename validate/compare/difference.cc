#include "validate/compare/difference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "validate/compare/element.h"

namespace svengine::validate {
namespace {

constexpr double kDecades[] = {1e-9, 1e-8, 1e-7, 1e-6, 1e-5,
                               1e-4, 1e-3, 1e-2, 1e-1, 1};  // where a bin begins that is not the first

/// Where float32 lies to be read.
const float* floats_of(const Tensor& tensor) {
  return tensor.type() == DType::f32 && tensor.is_aligned() ? tensor.data<float>().data() : nullptr;
}

// Numbers without their sign are in the order of their bits, which compilers make vectors of where they do not of numbers.
constexpr int32_t kInfiniteBits = 0x7f800000;
int32_t bits_of(float x) { return std::bit_cast<int32_t>(x) & 0x7fffffff; }
/// Of the largest float that is not above x >= 0.
int32_t bits_not_above(double x) {
  const float rounded = static_cast<float>(x);
  return bits_of(rounded) - (static_cast<double>(rounded) > x ? 1 : 0);
}

/// The decade of error / largest, from its binary exponent: log10 of every element would take longer than the network.
int bin_of(double ratio) {
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
    most_allowed_ = bits_not_above(bound.atol);
    for (size_t k = 0; k < decades_.size(); ++k) decades_[k] = std::max(bits_not_above(kDecades[k] / per_largest_) - 1, 0);
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

  /// Elements first .. first + count - 1, a block at a time: the network must not take less time than looking at it.
  void add_floats(const float* got, const float* expected, int64_t count) {
    for (int64_t first = 0; first < count; first += kBlock) {
      const int n = static_cast<int>(std::min<int64_t>(kBlock, count - first));
      if (n == kBlock && add_block(got + first, expected + first, first)) continue;
      for (int64_t i = first; i < first + n; ++i) add(i, static_cast<double>(got[i]), static_cast<double>(expected[i]));
    }
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

  static constexpr int kBlock = 256;

  /// False: not counted, for something in it is not finite.
  bool add_block(const float* got, const float* expected, int64_t first) {
    int32_t errors[kBlock], worst = 0, equal = 0;
    for (int j = 0; j < kBlock; ++j) {
      errors[j] = bits_of(got[j] - expected[j]);
      worst = std::max(worst, errors[j]);
      equal += errors[j] == 0;
    }
    if (worst >= kInfiniteBits) return false;
    out_.bins[Difference::kEqual] += equal;
    if (worst == 0) return true;
    count_decades(errors, worst, kBlock - equal);
    if (worst > most_allowed_)
      for (int j = 0; j < kBlock; ++j)
        out_.over += !(number_of(errors[j]) <= out_.bound.atol + out_.bound.rtol * std::abs(static_cast<double>(expected[j])));
    double sums[8] = {};
    for (int j = 0; j < kBlock; ++j) sums[j % 8] += number_of(errors[j]);
    for (const double sum : sums) sum_ += sum;
    if (number_of(worst) > least_)
      for (int j = 0; j < kBlock; ++j)
        if (number_of(errors[j]) > least_) {
          const double a = static_cast<double>(got[j]), b = static_cast<double>(expected[j]);
          keep({first + j, a, b, std::abs(a - b)});
        }
    return true;
  }

  static double number_of(int32_t bits) { return static_cast<double>(std::bit_cast<float>(bits)); }

  /// `left`: how many errors of the block are not 0.
  void count_decades(const int32_t (&errors)[kBlock], int32_t worst, int32_t left) {
    int32_t at_least = left;  // the lower end of the bin looked at
    for (int k = 0; k <= static_cast<int>(std::size(kDecades)) && at_least > 0; ++k) {
      int32_t above = 0;
      if (k < static_cast<int>(std::size(kDecades)) && worst > decades_[static_cast<size_t>(k)])
        for (int j = 0; j < kBlock; ++j) above += errors[j] > decades_[static_cast<size_t>(k)];
      out_.bins[static_cast<size_t>(Difference::kTiny + k)] += at_least - above;
      at_least = above;
    }
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
  int32_t most_allowed_;                                   // bits of the largest error that is not over whatever is expected
  std::array<int32_t, std::size(kDecades)> decades_ = {};  // of the largest error below each
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
  const int64_t count = tensor.count();
  if (const float* floats = floats_of(tensor)) {
    int32_t largest = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int32_t bits = bits_of(floats[i]);
      largest = std::max(largest, bits < kInfiniteBits ? bits : 0);
    }
    return static_cast<double>(std::bit_cast<float>(largest));
  }
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double x = std::abs(element_as_double(tensor, i));
    if (x > largest && std::isfinite(x)) largest = x;
  }
  return largest;
}

Difference difference_of(const Tensor& got, const Tensor& expected, const Bound& bound, std::optional<double> largest) {
  const bool handles = is_handle(got.type()) || is_handle(expected.type());
  if (got.dims() != expected.dims() || (handles && got.type() != expected.type()))
    return mismatch_of(fmt::format("is {}, expected {}", type_text(got), type_text(expected)), expected);
  if (handles) return same_items(got, expected) ? Difference() : mismatch_of("is another one than expected", expected);
  Differ differ(bound, largest ? *largest : largest_of(expected));
  const int64_t count = expected.count();
  if (floats_of(got) && floats_of(expected)) {
    differ.add_floats(floats_of(got), floats_of(expected), count);
  } else {
    for (int64_t i = 0; i < count; ++i) differ.add(i, element_as_double(got, i), element_as_double(expected, i));
  }
  return differ.finish(expected.dims(), count);
}

}  // namespace svengine::validate
