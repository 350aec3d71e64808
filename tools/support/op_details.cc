#include "tools/support/op_details.h"

#include "engine/graph/type_parameter.h"
#include "tools/support/op_table.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace {

/// "0, 1 and all behind it".
std::string inputs_text(const OpDef& op, const TypeParameter& parameter) {
  std::string out = fmt::format("{}", fmt::join(parameter.inputs, ", "));
  if (covers(op, parameter, static_cast<size_t>(parameter.inputs.last()) + 1)) out += " and all behind it";
  return out;
}

}  // namespace

std::vector<AttributeDef> public_attributes(const OpDef& op) {
  std::vector<AttributeDef> out = op.attributes;
  std::erase_if(out, [](const AttributeDef& a) { return a.internal; });
  return out;
}

std::string default_text(const AttributeDef& attribute) {
  if (const auto* number = attribute.default_value.get<int64_t>()) return fmt::format("{}", *number);
  if (const auto* number = attribute.default_value.get<float>()) return fmt::format("{}", *number);
  if (const auto* words = attribute.default_value.get<const char*>()) return fmt::format("\"{}\"", *words);
  return "";
}

std::string arity_text(const Arity& arity) {
  if (is_variadic(arity)) return fmt::format("{} or more", arity.min);
  return arity.min == arity.max ? fmt::format("{}", arity.min) : fmt::format("{} to {}", arity.min, arity.max);
}

std::string op_details(const OpDef& op) {
  std::string out = fmt::format("inputs: {}; outputs: {}\n", arity_text(op.inputs), arity_text(op.outputs));
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
