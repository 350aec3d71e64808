// What operators on strings share.
#pragma once
#include "engine/graph/attribute_tables.h"
#include "engine/graph/evaluate_context.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {

inline constexpr DTypeSet kStringType{DType::string};

}  // namespace svengine::ops
