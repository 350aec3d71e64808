// Attributes in few letters, for defaults in operators' definitions.
#pragma once
#include <initializer_list>

#include "engine/graph/op_def.h"

namespace svengine::ops {

inline Attribute integer(int64_t value) { return value; }
inline Attribute integers(std::initializer_list<int64_t> values) { return std::vector<int64_t>(values); }
inline Attribute real(float value) { return value; }
inline Attribute text(const char* value) { return std::string(value); }

}  // namespace svengine::ops
