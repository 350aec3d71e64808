// Comparing tensors as numpy.testing.assert_allclose does.
#pragma once
#include "engine/base/tensor.h"

namespace svengine::tests {

/// Same type and shape, and |actual - expected| <= atol + rtol * |expected| everywhere for floating point (NaN equals NaN,
/// infinities equal themselves); exactly equal for everything else. The error names the worst element. Sequences and their like: value by value.
Status all_close(const Tensor& actual, const Tensor& expected, double rtol, double atol);

/// Elements as doubles, of any numeric type or bool.
std::vector<double> to_doubles(const Tensor& tensor);

}  // namespace svengine::tests
