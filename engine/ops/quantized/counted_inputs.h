// How many zero points and scales a product of quantised operands may have.
#pragma once
#include <vector>

#include "engine/graph/op_def.h"

namespace svengine::ops {

/// Zero points and scales of a product's operands, by the indices of inputs.
struct CountedInputs {
  size_t a, b;
  std::vector<size_t> of_rows = {}, of_columns = {}, single = {}, biases = {};
  bool b_transposed = false, a_transposed = false;
};
/// Each has one element, or one for each row of A or column of B, or of every matrix of them; biases one for each column of B, and no fewer.
/// Unknown dimensions pass.
Status check_counts(const InferContext& c, const CountedInputs& inputs);

}  // namespace svengine::ops
