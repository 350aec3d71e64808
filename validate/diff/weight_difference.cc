#include "validate/diff/weight_difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/base/number_at.h"
#include "validate/compare/element.h"

namespace svengine::validate {
namespace {

constexpr size_t kPiece = size_t{1} << 20;  // bytes that are mapped at a time

/// Compares bytes in pieces and lets go of each.
bool equal_bytes(const StoredTensor& a, const StoredTensor& b) {
  const onnx::Bytes x = bytes_of(a), y = bytes_of(b);
  if (x.size() != y.size()) return false;
  bool equal = true;
  for (size_t at = 0; at < x.size() && equal; at += kPiece) {
    const size_t size = std::min(kPiece, x.size() - at);
    equal = std::memcmp(x.data() + at, y.data() + at, size) == 0;
    release_pages(a.tensor.owner(), x.subspan(at, size));
    release_pages(b.tensor.owner(), y.subspan(at, size));
  }
  return equal;
}

bool equal_strings(const Tensor& a, const Tensor& b) {
  const auto x = a.strings(), y = b.strings();
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

struct Sums {
  double total = 0;
  int64_t finite = 0;
};

template <class Load>
void look_at(WeightDifference& out, Sums& sums, int64_t begin, int64_t end, double atol, const Load& load, const std::byte* raw_a,
             const std::byte* raw_b, size_t size) {
  for (int64_t i = begin; i < end; ++i) {
    const auto at = static_cast<size_t>(i) * size;
    const double x = load(raw_a, i), y = load(raw_b, i);
    out.nans_a += std::isnan(x), out.nans_b += std::isnan(y);
    out.infinities_a += std::isinf(x), out.infinities_b += std::isinf(y);
    const bool finite = std::isfinite(x) && std::isfinite(y);
    const double apart = finite ? std::abs(x - y) : 0;
    sums.finite += finite;
    sums.total += apart;
    if (std::memcmp(raw_a + at, raw_b + at, size) == 0) continue;
    ++out.different;
    const bool same = finite ? apart <= atol : atol > 0 && (x == y || (std::isnan(x) && std::isnan(y)));
    out.over += !same || (atol == 0);
    if (finite && (apart > out.largest || out.largest_index < 0)) out.largest = apart, out.largest_index = i;
  }
}

void compare_numbers(const Tensor& a, const Tensor& b, double atol, WeightDifference& out) {
  const size_t size = size_of(a.type());
  const auto step = static_cast<int64_t>(kPiece / size);
  const auto load_float = [](const std::byte* raw, int64_t i) {
    float value;
    std::memcpy(&value, raw + static_cast<size_t>(i) * sizeof value, sizeof value);
    return static_cast<double>(value);
  };
  Sums sums;
  for (int64_t begin = 0; begin < a.count(); begin += step) {
    const int64_t end = std::min(a.count(), begin + step);
    const auto piece = [&](const Tensor& t) {
      return onnx::Bytes(t.raw() + static_cast<size_t>(begin) * size, static_cast<size_t>(end - begin) * size);
    };
    if (a.type() == DType::f32) look_at(out, sums, begin, end, atol, load_float, a.raw(), b.raw(), size);
    else
      look_at(
          out, sums, begin, end, atol, [&](const std::byte* raw, int64_t i) { return number_at(a.type(), raw, i); }, a.raw(), b.raw(),
          size);
    release_pages(a.owner(), piece(a));
    release_pages(b.owner(), piece(b));
  }
  out.compared = true;
  out.count = a.count();
  if (sums.finite > 0) out.mean = sums.total / static_cast<double>(sums.finite);
  if (out.largest_index < 0) return;
  out.largest_at = index_text(a.dims(), out.largest_index);
  out.largest_a = element_text(a, out.largest_index);
  out.largest_b = element_text(b, out.largest_index);
}

void compare_string_elements(const Tensor& a, const Tensor& b, WeightDifference& out) {
  out.compared = true;
  out.count = a.count();
  const auto x = a.strings(), y = b.strings();
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    const auto index = static_cast<int64_t>(i);
    if (out.different++ == 0)
      out.largest_index = index, out.largest_at = index_text(a.dims(), index), out.largest_a = element_text(a, index),
      out.largest_b = element_text(b, index);
  }
  out.over = out.different;
}

std::string grouped_number(int64_t value) {
  std::string out = std::to_string(value);
  for (int64_t i = static_cast<int64_t>(out.size()) - 3; i > 0; i -= 3) out.insert(static_cast<size_t>(i), ",");
  return out;
}

}  // namespace

WeightVerdict compare_weights(const StoredTensor& a, const StoredTensor& b, double atol) {
  WeightVerdict out;
  WeightDifference& difference = out.difference;
  difference.type_a = a.type, difference.type_b = b.type;
  if (a.type != b.type || a.tensor.defined() != b.tensor.defined()) return out;
  const bool strings = a.tensor.defined() && a.tensor.type() == DType::string;
  out.equal = strings ? equal_strings(a.tensor, b.tensor) : equal_bytes(a, b);
  if (out.equal || !a.tensor.defined()) return out;
  if (strings) compare_string_elements(a.tensor, b.tensor, difference);
  else compare_numbers(a.tensor, b.tensor, atol, difference);
  out.equal = difference.over == 0;
  return out;
}

std::string to_text(const WeightDifference& d) {
  if (d.type_a != d.type_b) return fmt::format("{} -> {}", d.type_a, d.type_b);
  if (!d.compared) return fmt::format("{}, other bytes", d.type_a);
  std::string out = fmt::format("{}, {} of {} elements differ", d.type_a, grouped_number(d.different), grouped_number(d.count));
  if (d.largest_index >= 0 && d.largest > 0)
    out += fmt::format(", by up to {:.4g} at {} ({} -> {}), {:.3g} on average", d.largest, d.largest_at, d.largest_a, d.largest_b, d.mean);
  else if (d.largest_index >= 0)
    out += fmt::format(", first at {} ({} -> {})", d.largest_at, d.largest_a, d.largest_b);
  if (d.nans_a + d.nans_b > 0) out += fmt::format("; NaN {} -> {}", d.nans_a, d.nans_b);
  if (d.infinities_a + d.infinities_b > 0) out += fmt::format("; infinite {} -> {}", d.infinities_a, d.infinities_b);
  return out;
}

}  // namespace svengine::validate
