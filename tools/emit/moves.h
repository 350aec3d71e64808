// Moving elements by tables of places.
#pragma once
#include <string>
#include <vector>

#include "tools/emit/context.h"

namespace svengine::tool::emit {

/// Output element (i, j, ..) is input element (maps[0][i], maps[1][j], ..), or `outside` where a map says -1.
void emit_mapped(NodeContext& c, const std::vector<std::vector<int32_t>>& maps, const std::string& outside);

}  // namespace svengine::tool::emit
