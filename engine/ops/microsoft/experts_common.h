// QMoE's weights: unsigned numbers of 2, 4 or 8 bits, several to a byte along the last dimension, the first in the low bits, with a scale
// and a zero point for every row or every block of a row.
#pragma once
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {

Status check_expert_bits(const Node& node);

/// fc1's, fc2's or fc3's (0, 1, 2) as [experts, outs, ins] of the node's type; null where a shape is not known yet.
Result<Value*> float_expert_weights(ExpandContext& c, size_t which);


}  // namespace svengine::ops
