// Which inputs of an operator a type parameter speaks of.
#pragma once
#include <cstddef>

#include "engine/graph/op_def.h"

namespace svengine {

inline bool covers(const OpDef& op, const TypeParameter& parameter, size_t input) {
  const bool more = op.inputs.is_variadic() && parameter.inputs.last() == op.inputs.last() && static_cast<int>(input) > op.inputs.last();
  return more || parameter.inputs.has(input);
}

/// Null: none does.
inline const TypeParameter* type_parameter_of(const OpDef& op, size_t input) {
  for (const TypeParameter& parameter : op.types)
    if (covers(op, parameter, input)) return &parameter;
  return nullptr;
}

}  // namespace svengine
