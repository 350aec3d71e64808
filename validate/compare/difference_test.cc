#include "validate/compare/difference.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "validate/compare/precision.h"

namespace difference_test {
using namespace svengine;
using validate::Bound, validate::Difference;

namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity(), kNothing = std::numeric_limits<float>::quiet_NaN();

Tensor row(std::initializer_list<float> values) { return Tensor::of<float>({static_cast<int64_t>(values.size())}, values); }

}  // namespace

TEST_CASE("errors are counted by decade beside the largest element") {
  const Difference d = validate::difference_of(row({100, 0.5f, 1, 3, 250}), row({100, 0.5f, 1.5f, 2, 100}), {0, 0.6});
  CHECK(d.count == 5);
  CHECK(d.largest == 100);
  CHECK(d.bins[Difference::kEqual] == 2);
  CHECK(d.bins[Difference::kHuge - 3] == 1);  // 0.5 / 100
  CHECK(d.bins[Difference::kHuge - 2] == 1);  // 1 / 100
  CHECK(d.bins[Difference::kHuge] == 1);      // 150 / 100
  CHECK(d.over == 2);
  CHECK(d.worst == 150);
  CHECK(d.relative() == 1.5);
  CHECK(d.mean == Approx(151.5 / 5));
  REQUIRE(d.elements.size() == 3);
  CHECK((d.elements[0].index == 4 && d.elements[1].index == 3 && d.elements[2].index == 2));
}

TEST_CASE("every decade has its bin") {
  for (int decade = -9; decade < 0; ++decade) {
    INFO(decade);
    const double error = 1.5 * std::pow(10.0, decade);
    const Difference d = validate::difference_of(Tensor::of<double>({2}, {1, error}), Tensor::of<double>({2}, {1, 0}), {});
    CHECK(d.bins[static_cast<size_t>(Difference::kHuge + decade)] == 1);
    CHECK(Difference::bin_title(Difference::kHuge + decade) == fmt::format("1e{}", decade));
  }
  CHECK(
      validate::difference_of(Tensor::of<double>({2}, {1, 1e-12}), Tensor::of<double>({2}, {1, 0}), {}).bins[Difference::kTiny] ==
      1);
}

TEST_CASE("the worst elements are kept, whatever their order") {
  MutableTensor got = *Tensor::allocate(DType::f32, {1000});
  MutableTensor expected = *Tensor::allocate(DType::f32, {1000});
  for (size_t i = 0; i < 1000; ++i) {
    got.data<float>()[i] = static_cast<float>((i * 619) % 1000);
    expected.data<float>()[i] = 0;
  }
  const Difference d = validate::difference_of(got, expected, {});
  REQUIRE(d.elements.size() == Difference::kWorst);
  for (size_t k = 0; k < Difference::kWorst; ++k) CHECK(d.elements[k].got == 999.0 - static_cast<double>(k));
}

TEST_CASE("blocks of float32 are counted as single elements are") {
  constexpr size_t kCount = 5 * 256 + 17;
  MutableTensor got = *Tensor::allocate(DType::f32, {kCount}), expected = *Tensor::allocate(DType::f32, {kCount});
  MutableTensor wide_got = *Tensor::allocate(DType::f64, {kCount}), wide_expected = *Tensor::allocate(DType::f64, {kCount});
  for (size_t i = 0; i < kCount; ++i) {
    const float x = std::sin(static_cast<float>(i)) * 7;
    got.data<float>()[i] = i % 5 == 0 ? x : x + std::pow(10.0f, static_cast<float>(i % 11) - 9) * (i % 2 ? 1.0f : -1.3f);
    if (i >= 512 && i < 768) got.data<float>()[i] = x;            // a block of equal ones
    if (i == 800 || i == 1290) got.data<float>()[i] = kInfinite;  // in a block, and behind the last
    expected.data<float>()[i] = i == 900 ? kNothing : x;
    wide_got.data<double>()[i] = static_cast<double>(got.data<float>()[i]);
    wide_expected.data<double>()[i] = static_cast<double>(expected.data<float>()[i]);
  }
  for (const Bound bound : {Bound{0, 1e-4}, Bound{1e-3, 1e-5}, Bound{0.1, 0}, Bound{}}) {
    const Difference fast = validate::difference_of(got, expected, bound),
                     plain = validate::difference_of(wide_got, wide_expected, bound);
    CHECK(fast.bins == plain.bins);
    CHECK(fast.over == plain.over);
    CHECK(fast.largest == plain.largest);
    CHECK(fast.mean == Approx(plain.mean));
    REQUIRE(fast.elements.size() == plain.elements.size());
    for (size_t k = 0; k < fast.elements.size(); ++k) CHECK(fast.elements[k].index == plain.elements[k].index);
  }
}

TEST_CASE("decades of the smallest numbers are no numbers themselves") {
  MutableTensor got = *Tensor::allocate(DType::f32, {256}), expected = *Tensor::allocate(DType::f32, {256});
  for (size_t i = 0; i < 256; ++i) {
    expected.data<float>()[i] = 1e-40f;
    got.data<float>()[i] = i < 200 ? 1e-40f : 2e-40f;
  }
  const Difference d = validate::difference_of(got, expected, {});
  CHECK(d.bins[Difference::kEqual] == 200);
  CHECK(d.bins[Difference::kEqual] + d.bins[Difference::kHuge] + d.bins[Difference::kHuge - 1] == 256);
}

TEST_CASE("what is not finite agrees with the same only") {
  const Difference d = validate::difference_of(row({kNothing, kInfinite, kInfinite, 1, kNothing}),
                                               row({kNothing, kInfinite, -kInfinite, kNothing, 2}), {1e30, 1e30});
  CHECK(d.bins[Difference::kEqual] == 2);
  CHECK(d.bins[Difference::kNotFinite] == 3);
  CHECK(d.over == 3);
  CHECK(std::isinf(d.worst));
  CHECK((d.got_nans == 2 && d.expected_nans == 2 && d.got_infinities == 2 && d.expected_infinities == 2));
}

TEST_CASE("types are numbers to each other, shapes and kinds are not") {
  const Tensor half = Tensor::wrap(DType::f16, {2}, "\x00\x3c\x00\x40", nullptr);  // 1, 2
  CHECK(validate::difference_of(half, row({1, 2}), {}).equal());
  CHECK(validate::difference_of(row({1}), Tensor::of<float>({1, 1}, {1}), {}).mismatch == "is float32[1], expected float32[1x1]");
  const Tensor words = Tensor::of_strings({1}, {"a"});
  CHECK_FALSE(validate::difference_of(row({1}), words, {}).passed());
  CHECK(validate::difference_of(words, Tensor::of_strings({1}, {"a"}), {}).passed());
  CHECK_FALSE(validate::difference_of(words, Tensor::of_strings({1}, {"b"}), {}).passed());
  CHECK(validate::difference_of(row({}), row({}), {}).passed());
}

TEST_CASE("precision grows with the coarsest type, and like the square root of a sum's length") {
  const double single = validate::precision_of({}, 1, DType::f32, DType::f32).relative;
  CHECK(single == Approx(12 * 0x1p-24));
  CHECK(validate::precision_of({}, 10000, DType::f32, DType::f32).relative == Approx(804 * 0x1p-24));
  CHECK(validate::precision_of({}, 1, DType::f16, DType::f32).relative == Approx(4 * 0x1p-11).epsilon(0.01));
  CHECK(validate::precision_of({}, 1, DType::f64, DType::f64).relative == Approx(12 * 0x1p-53));
}

TEST_CASE("a disturbance is random, bounded, and the same again") {
  const std::vector<Tensor> inputs = {row({1, -2, 0, kInfinite}), Tensor::of<int64_t>({1}, {7}), Tensor()};
  const auto once = validate::disturbed(inputs, 1e-3, 1), again = validate::disturbed(inputs, 1e-3, 1),
             other = validate::disturbed(inputs, 1e-3, 2);
  REQUIRE((once.ok() && again.ok() && other.ok()));
  const auto a = (*once)[0].data<float>();
  CHECK(a[0] != 1);
  CHECK(std::abs(a[0] - 1) <= 1.001e-3f);
  CHECK(std::abs(a[1] + 2) <= 2.001e-3f);
  CHECK(a[2] == 0);
  CHECK(a[3] == kInfinite);
  CHECK(validate::difference_of((*once)[0], (*again)[0], {}).equal());
  CHECK_FALSE(validate::difference_of((*once)[0], (*other)[0], {}).equal());
  CHECK((*once)[1].data<int64_t>()[0] == 7);
}
}  // namespace difference_test
