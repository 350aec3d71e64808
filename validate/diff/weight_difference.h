// Two tensors, element by element.
#pragma once
#include <cstdint>
#include <string>

#include "validate/diff/tensor_reader.h"

namespace svengine::validate {

struct WeightDifference {
  std::string type_a, type_b;  // "float32[768x768]"
  /// What follows is of tensors of one type and shape whose elements are numbers.
  bool compared = false;
  int64_t count = 0;           // elements
  int64_t different = 0;       // whose bytes differ
  int64_t over = 0;            // of these, more than the tolerance apart, or not finite on one side
  double largest = 0;          // |a - b|, where both are finite
  int64_t largest_index = -1;  // -1: nowhere
  std::string largest_at, largest_a, largest_b;
  double mean = 0;             // |a - b| over all elements that are finite in both
  int64_t nans_a = 0, nans_b = 0, infinities_a = 0, infinities_b = 0;
};

/// Equal bytes are found by comparing bytes; only others are looked at as numbers. Reads in pieces, so memory does not grow with the tensor.
struct WeightVerdict {
  bool equal = false;
  WeightDifference difference;  // where they are not
};
WeightVerdict compare_weights(const StoredTensor& a, const StoredTensor& b, double atol);

/// "3 of 589,824 elements differ, by up to 0.5 at [3, 4] (1 -> 1.5), 1.2e-06 on average; NaN 0 -> 2".
std::string to_text(const WeightDifference& difference);

}  // namespace svengine::validate
