// Softmax in double precision: the oracle of the softmax kernels.
#pragma once
#include <cstdint>
#include <vector>

namespace svengine::kernels {

/// softmax or log-softmax of n doubles, by the textbook formula with the maximum subtracted. NaN and infinities as
/// NumPy's arithmetic gives them.
std::vector<double> reference_softmax(const std::vector<double>& x, bool log);

/// The index of the first maximum; the first NaN counts as one.
int64_t reference_argmax(const std::vector<double>& x);

}  // namespace svengine::kernels
