// How far two tensors of numbers lie apart: how many elements by how much, the worst of them, and what is not finite.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/tensor.h"

namespace svengine::validate {

/// Which elements are over: |got - expected| > atol + rtol * |expected|.
struct Bound {
  double rtol = 0, atol = 0;
};

struct Difference {
  /// Errors by their size beside the value's largest: 0 exactly, below 1e-9, then a decade each, 1 and more; not finite on one
  /// side only.
  static constexpr int kBins = 13, kEqual = 0, kTiny = 1, kHuge = 11, kNotFinite = 12;
  static std::string bin_title(int bin);

  struct Element {
    int64_t index = 0;
    double got = 0, expected = 0, error = 0;
  };
  static constexpr size_t kWorst = 5;

  std::string mismatch;  // of kind or shape: the elements were not compared
  Dims dims;             // of what was expected
  int64_t count = 0;
  double largest = 0;  // absolute expected value that is finite
  double worst = 0;    // |got - expected|; infinite where one of them is not finite and the other not the same
  double mean = 0;     // of the finite errors
  int64_t over = 0;
  Bound bound;
  int64_t got_nans = 0, got_infinities = 0, expected_nans = 0, expected_infinities = 0;
  std::array<int64_t, kBins> bins = {};
  std::vector<Element> elements;  // the worst ones that are not equal, worst first

  /// The worst error beside the largest value.
  double relative() const;
  bool passed() const { return mismatch.empty() && over == 0; }
  bool equal() const { return mismatch.empty() && bins[kEqual] == count; }
};

/// The largest absolute value that is finite.
double largest_of(const Tensor& tensor);

/// Types may differ as long as both are of numbers, and float16 beside float32 is compared as numbers. Strings, and what
/// sequences, optionals and maps hold, must be equal: errors are 0 or infinite. Equal infinities agree, and so do two NaNs.
/// `largest`: largest_of(expected), where the caller has it.
Difference difference_of(const Tensor& got, const Tensor& expected, const Bound& bound, std::optional<double> largest = {});

}  // namespace svengine::validate
