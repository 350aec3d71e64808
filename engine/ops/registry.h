// All operators of the engine. The table is made by CMake from the files below engine/ops/<family>/: <operator>.cc defines
// `OpDef define_<operator>()` in namespace svengine::ops. (Static libraries drop self-registering objects.)
#pragma once
#include "engine/graph/op_registry.h"

namespace svengine {

/// Built at first use; immutable; thread-safe. (Not operator by operator as they are asked for: where memory fails in the middle of a
/// definition, g++ 12 destroys twice what is half made, tests/api/out_of_memory_test.cc.)
/// What programs and plug-ins have registered (custom_operator.h) is found in it, too.
const OpRegistry& all_ops();

}  // namespace svengine
