// Elements of a tensor as numbers, whatever their type and alignment.
#pragma once
#include "engine/base/tensor.h"

namespace svengine::validate {

/// Element i of a number or bool tensor as a double, NaN of others; 64-bit integers are rounded.
double element_as_double(const Tensor& tensor, int64_t i);

/// As text: integers exactly, reals with `digits` significant digits, strings in quotation marks, the types of what a sequence holds.
std::string element_text(const Tensor& tensor, int64_t i, int digits = 6);

/// "float32[2x3]", "sequence of 4".
std::string type_text(const Tensor& tensor);

/// The position of element i: "[0, 3, 17]"; "[]" for a scalar.
std::string index_text(const Dims& dims, int64_t i);

struct Statistics {
  double min = 0, max = 0, mean = 0;  // of the elements that are finite; means nothing where there are none
  int64_t finite = 0, nans = 0, infinities = 0;
};
Statistics statistics_of(const Tensor& tensor);

}  // namespace svengine::validate
