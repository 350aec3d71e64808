// Operators that programs and plug-ins bring along (svengine/operators.h), as OpDefs.
//
//   svengine_operator ── register_custom_operators() ──> CustomOperator (a copy, never freed) ──> OpDef, which OpRegistry::find() gives
//   node ── infer, lower: custom_call.h ──> svengine_call ──> the operator's functions
//
// They are known to the whole process and stay, as the shared libraries do whose code they call: graphs hold pointers to their OpDefs.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/op_def.h"
#include "svengine/operators.h"

namespace svengine {

/// The types that svengine_type names.
inline constexpr DTypeSet kCustomOperandTypes{DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,  DType::i16,    DType::i32,
                                              DType::i64, DType::u8,  DType::u16, DType::u32,  DType::u64, DType::boolean};

/// What has been registered. Its pointers are to strings and lists of its own. `definition` has the fields that its maker's header knew;
/// the others are 0.
struct CustomOperator {
  svengine_operator definition{};
  std::string domain, name, gradient;
  std::deque<std::string> attribute_names;
  std::vector<svengine_attribute_rule> attributes;
  std::vector<uint32_t> input_types;
  std::vector<int32_t> output_types;
  OpDef op;  // op.custom points here

  CustomOperator() = default;
  CustomOperator(const CustomOperator&) = delete;
};

/// All or none. Refuses what cannot be an operator, and names that are the engine's or registered already. Thread-safe. Every definition begins with
/// its own size; `stride` is the distance between two of them.
Status register_custom_operators(const svengine_operator* operators, size_t count, size_t stride);

/// Null when there is none. Thread-safe.
const OpDef* find_custom_operator(std::string_view domain, std::string_view name);
/// The newest opset of the domain's registered operators; 0: there are none.
int newest_custom_opset(std::string_view domain);

}  // namespace svengine
