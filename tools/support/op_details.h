// What one operator takes: inputs, types and attributes, as its definition says.
#pragma once
#include <string>
#include <vector>

#include "engine/graph/op_def.h"

namespace svengine::tool {

/// Those that models may give it.
std::vector<AttributeDef> public_attributes(const OpDef& op);

/// "" where a node has to say, or nothing stands for what it leaves out; texts in quotation marks.
std::string default_text(const AttributeDef& attribute);

/// Any number, of an operator that counts some of them itself.
inline bool is_variadic(const Arity& arity) { return arity.max >= kVariadic - 1; }
/// "2 to 3", "1 or more", "1".
std::string arity_text(const Arity& arity);

/// Tables of types and attributes, below a line on inputs and outputs.
std::string op_details(const OpDef& op);

}  // namespace svengine::tool
