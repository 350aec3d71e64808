// What operators are tested on.
#pragma once
#include "engine/graph/samples.h"

namespace svengine {

/// OpDef::samples, read once; none where the text cannot be read, which a test asks of every operator. Thread-safe; what it gives stays.
const std::vector<Sample>& samples_of(const OpDef& op);

}  // namespace svengine
