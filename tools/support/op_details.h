// What one operator takes: inputs, types and attributes, as its definition says.
#pragma once
#include <string>
#include <vector>

#include "engine/graph/op_def.h"

namespace svengine::tool {

/// Those that models may give it.
std::vector<AttributeDef> public_attributes(const OpDef& op);

struct InputDetails {
  Arity arity;
  std::vector<std::string> names;  // the last may stand for any number
};

/// Without what bodies capture.
InputDetails public_inputs(const OpDef& op);

/// "" where a node has to say, or nothing stands for what it leaves out; texts in quotation marks.
std::string default_text(const AttributeDef& attribute);

/// Tables of inputs, types and attributes, below a line on how many inputs and outputs there are.
std::string op_details(const OpDef& op);

}  // namespace svengine::tool
