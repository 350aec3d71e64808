// Axes as ONNX writes them: from -rank to rank - 1, negative ones counted from the end.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/status.h"

namespace svengine {

/// The axis in [0, rank). `what` is its name in errors.
Result<int64_t> normalise_axis(int64_t axis, int64_t rank, const char* what = "axis");

/// The same for each of several, in the order given; an axis named twice is refused.
Result<std::vector<int64_t>> normalise_axes(std::span<const int64_t> axes, int64_t rank, const char* what = "axes");

/// 0, 1, ... below `count`: all axes of a value of that rank.
std::vector<int64_t> every_axis(int64_t count);

/// The permutation that exchanges rows and columns of the matrices in a value of that rank, which is 2 or more.
std::vector<int64_t> matrix_transpose(int64_t rank);

}  // namespace svengine
