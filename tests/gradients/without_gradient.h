// Operators that take and give real numbers and have no gradient all the same, each with its reason. gradient_check_test.cc fails where
// an operator has neither a rule nor an entry here, and where it has both.
#pragma once
#include <span>

#include "engine/graph/op_def.h"

namespace svengine::tests {

struct WithoutGradient {
  const char *domain, *name, *reason;
};

std::span<const WithoutGradient> operators_without_gradient();

/// Null when there is none.
const char* reason_without_gradient(const OpDef& op);

/// Its rule is for float32 (and narrower types), and refuses float64 by name, though the operator takes it.
bool has_single_gradient(const OpDef& op);

}  // namespace svengine::tests
