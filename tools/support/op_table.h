// What the engine's operators take, asked of their definitions.
#pragma once
#include <string>
#include <vector>

#include "engine/graph/op_def.h"

namespace svengine::tool {

struct OpRow {
  std::string domain, name;      // "ai.onnx" for the default domain
  const OpDef* op = nullptr;
  int since = 1, until = 1;
  DTypeSet types;                // of the first input (and of those that have its type); empty: no inputs, or no tensors
  bool gradient = false;
};

/// All operators that a file may have, by domain and name.
std::vector<OpRow> op_table();

/// Types by groups: "float" is float32, float64, float16 and bfloat16, "int" and "uint" those of 8 to 64 bits, "float8" the four, "int4" the
/// signed and unsigned integers of 4 and 2 bits, "all" every one.
std::string types_text(DTypeSet types);
std::vector<std::string> names_of(DTypeSet types);

/// The table as a document.
std::string op_document(const std::vector<OpRow>& rows);

}  // namespace svengine::tool
