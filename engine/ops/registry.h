// All operators of the engine. The table is made by CMake from the files below engine/ops/<family>/: <operator>.cc defines
// `OpDef define_<operator>()` in namespace svengine::ops, the operator's name in small letters with or without underscores; where ai.onnx
// has one of this name, com.microsoft's is define_microsoft_<operator>, the engine's own define_svengine_<operator>. (Static libraries
// drop self-registering objects.)
#pragma once
#include "engine/graph/op_registry.h"

namespace svengine {

/// Thread-safe. What programs and plug-ins have registered (custom_operator.h) is found in it, too.
const OpRegistry& all_ops();

}  // namespace svengine
