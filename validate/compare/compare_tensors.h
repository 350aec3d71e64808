// Comparing an output with what was expected.
#pragma once
#include <optional>
#include <string>

#include "engine/base/tensor.h"

namespace svengine::validate {

/// The absolute tolerance relates to the size of an output unless it is given: an element near 0 is a sum of larger numbers that cancel,
/// and carries their rounding errors. Float32's is 6e-8 of a number; a deep network's sums are off by some 1e-6 of its largest output.
struct Tolerance {
  double rtol = 1e-3;  // ONNX's backend tests: onnx.backend.test.loader and runner
  std::optional<double> atol = {};
};
constexpr double kAtolOfLargest = 1e-5;  // without one: this much of the output's largest absolute expected value that is finite
constexpr double kAtolOfZeros = 1e-7;    // where that is 0: ONNX's backend tests'

struct Comparison {
  bool passed = false;
  std::string mismatch;          // of type or shape: the values were not compared
  int64_t count = 0;             // elements
  double atol = 0;               // that was applied
  int64_t over = 0;              // elements over the tolerance
  double worst_abs = 0;          // |got - expected|
  double worst_rel = 0;          // |got - expected| / |expected|, where the expected one is not 0
  int64_t worst_abs_index = -1;  // -1: all are equal
  int64_t worst_rel_index = -1;
};

/// Reals are within tolerance when |got - expected| <= atol + rtol * |expected|; equal infinities and two NaNs agree, and the
/// sign of zero does not count. Integers and bools must be equal. An element that is over the tolerance without a finite
/// difference (NaN or infinity on one side) has an infinite error.
Comparison compare(const Tensor& got, const Tensor& expected, const Tolerance& tolerance);

}  // namespace svengine::validate
