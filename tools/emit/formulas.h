// Functions of one and of two numbers as C expressions.
//
// In a formula $x and $y are the operands, $a and $b parameters, $T the type and $U the unsigned one of its width; "@exp" is expf or exp,
// "#0.5#" a number of the type. What stands before a ';' defines v.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "engine/graph/graph.h"
#include "tools/emit/c_text.h"

namespace svengine::tool::emit {

struct Operands {
  std::string x, y = {};
  double a = 0, b = 0;
};

/// The expression; a definition of v, where the formula has one, goes into the code first.
std::string expression(Code& code, std::string_view formula, DType type, const Operands& operands);

/// Of operators of one operand, and the activations that others end in, by either name; null where there is none for the type.
const char* unary_formula(std::string_view name, DType type);
/// Of operators of two operands of the type, and those of any number, which combine from the left.
const char* binary_formula(std::string_view name, DType type);

/// What a fused operator does to its result, by its attributes.
std::string activated(Code& code, const Node& node, DType type, const std::string& value);

}  // namespace svengine::tool::emit
