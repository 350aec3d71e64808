// Delta debugging: a small part of a list that still does something.
#pragma once
#include <functional>
#include <vector>

#include "engine/base/status.h"

namespace svengine::validate {

/// `test`: whether what is left still does it; it does for all of `items`. Returns a part of which no single item can go (1-minimal), if
/// `test` says the same whenever it is asked; where it starts to say no to everything, what has been reached by then.
///
/// ddmin of A. Zeller and R. Hildebrandt, Simplifying and isolating failure-inducing input, IEEE Transactions on Software Engineering 28(2),
/// 2002: tries each of n chunks alone, then the rest without each, then doubles n. At most quadratic in items; 2 log2 of them for a single one.
Result<std::vector<int>> ddmin(std::vector<int> items, const std::function<Result<bool>(const std::vector<int>&)>& test);

/// Halves as long as one of the two halves does it alone. Two tests for each, of lists that are ever shorter: where tests cost what items do,
/// all of them together cost what two of the whole list do.
Result<std::vector<int>> halve(std::vector<int> items, const std::function<Result<bool>(const std::vector<int>&)>& test);

/// The shortest beginning that still does it, and of this the shortest end, by bisection: logarithmic, and the smallest if whatever holds for a
/// part holds for what it is a part of; else just smaller.
Result<std::vector<int>> bisect_range(std::vector<int> items, const std::function<Result<bool>(const std::vector<int>&)>& test);

}  // namespace svengine::validate
