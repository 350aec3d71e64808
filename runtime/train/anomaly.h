// Finding where a computation leaves the finite numbers.
#pragma once
#include <string>
#include <vector>

#include "runtime/session.h"

namespace svengine {

/// No NaN and no infinity in it; true of what is not float32.
bool is_finite(const Tensor& tensor);

/// Runs the graph keeping every float32 value, and says in a sentence which input is not finite, or else which node's result is
/// the first that is not, with the kind of number and its position.
Result<std::string> first_not_finite(const Graph& graph, const std::vector<Tensor>& inputs, const SessionOptions& options);

}  // namespace svengine
