#include "tools/support/op_details.h"

#include "engine/graph/bodies.h"
#include "tools/support/op_table.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace {

/// "2 to 3", "1 or more", "1".
std::string arity_text(const Arity& arity) {
  if (arity.max == kVariadic) return fmt::format("{} or more", arity.min);
  return arity.min == arity.max ? fmt::format("{}", arity.min) : fmt::format("{} to {}", arity.min, arity.max);
}

const char* presence_text(const OpInputs& inputs, size_t input) {
  const bool required = inputs.is_required(input);
  if (inputs.is_variadic() && static_cast<int>(input) == inputs.last()) return required ? "one or more" : "any number";
  return required ? "" : "optional";
}

std::string inputs_text(const OpDef& op, const TypeParameter& parameter) {
  std::vector<std::string_view> names;
  for (const int i : parameter.inputs) names.push_back(op.inputs.name(static_cast<size_t>(i)));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<AttributeDef> public_attributes(const OpDef& op) {
  std::vector<AttributeDef> out = op.attributes;
  std::erase_if(out, [](const AttributeDef& a) { return a.internal; });
  return out;
}

InputDetails public_inputs(const OpDef& op) {
  InputDetails out{op.inputs.arity(), {}};
  for (int i = 0; i <= op.inputs.last(); ++i) out.names.emplace_back(op.inputs.name(static_cast<size_t>(i)));
  if (out.names.empty() || out.names.back() != kCaptured) return out;
  out.names.pop_back();
  out.arity.max = static_cast<int>(out.names.size());
  return out;
}

std::string default_text(const AttributeDef& attribute) {
  if (const auto* number = attribute.default_value.get<int64_t>()) return fmt::format("{}", *number);
  if (const auto* number = attribute.default_value.get<float>()) return fmt::format("{}", *number);
  if (const auto* words = attribute.default_value.get<const char*>()) return fmt::format("\"{}\"", *words);
  return "";
}

std::string op_details(const OpDef& op) {
  const InputDetails inputs = public_inputs(op);
  std::string out = fmt::format("inputs: {}; outputs: {}\n", arity_text(inputs.arity), arity_text(op.outputs));
  if (!inputs.names.empty()) {
    Table table({"input", "name", ""}, {});
    for (size_t i = 0; i < inputs.names.size(); ++i) table.row({fmt::format("{}", i), inputs.names[i], presence_text(op.inputs, i)});
    out += "\n" + table.text();
  }
  if (!op.types.empty()) {
    Table types({"type", "of inputs", "one of"}, {});
    for (const TypeParameter& p : op.types) types.row({p.name, inputs_text(op, p), types_text(p.types)});
    out += "\n" + types.text();
  }
  const std::vector<AttributeDef> attributes = public_attributes(op);
  if (attributes.empty()) return out;
  Table table({"attribute", "kind", "default"}, {});
  for (const AttributeDef& a : attributes) table.row({a.name, std::string(name_of(a.kind)), a.required ? "required" : default_text(a)});
  return out + "\n" + table.text();
}

}  // namespace svengine::tool
