// svengine ops: the operators that models may have.
#include <memory>
#include <string>

#include "tools/commands/commands.h"
#include "tools/support/json.h"
#include "tools/support/op_details.h"
#include "tools/support/op_table.h"
#include "tools/support/options.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace ops_command {

struct Options {
  std::string name;
  bool json = false, document = false;
};

Json types_json(DTypeSet types) {
  Json out = Json::array();
  for (std::string& name : names_of(types)) out.push_back(std::move(name));
  return out;
}

Json arity_json(const Arity& arity) {
  return {{"min", arity.min}, {"max", arity.max == kVariadic ? Json() : Json(arity.max)}};
}

/// What is known of one operator alone.
void add_details(const OpDef& op, Json& out) {
  const InputDetails inputs = public_inputs(op);
  out["inputs"] = arity_json(inputs.arity);
  out["input_names"] = Json::array();
  for (size_t i = 0; i < inputs.names.size(); ++i)
    out["input_names"].push_back({{"name", inputs.names[i]}, {"required", op.inputs.is_required(i)}});
  out["outputs"] = arity_json(op.outputs);
  out["type_parameters"] = Json::array();
  for (const TypeParameter& p : op.types) {
    Json inputs = Json::array();
    for (const int i : p.inputs) inputs.push_back(i);
    out["type_parameters"].push_back({{"name", p.name}, {"inputs", std::move(inputs)}, {"types", types_json(p.types)}});
  }
  out["attributes"] = Json::array();
  for (const AttributeDef& a : public_attributes(op)) {
    Json value;
    if (const auto* number = a.default_value.get<int64_t>()) value = *number;
    if (a.default_value.get<float>()) value = std::stod(default_text(a));  // 1e-05, not what a double makes of the float
    if (const auto* words = a.default_value.get<const char*>()) value = *words;
    out["attributes"].push_back({{"name", a.name}, {"kind", name_of(a.kind)}, {"required", a.required}, {"default", std::move(value)}});
  }
}

Json to_json(const std::vector<OpRow>& rows, bool details) {
  Json out = Json::array();
  for (const OpRow& row : rows) {
    out.push_back({{"domain", row.domain}, {"operator", row.name}, {"since", row.since}, {"until", row.until}, {"types", types_json(row.types)},
                   {"gradient", row.gradient}});
    if (details) add_details(*row.op, out.back());
  }
  return out;
}

Result<int> run(const Options& options) {
  std::vector<OpRow> rows = op_table();
  if (!options.name.empty()) std::erase_if(rows, [&](const OpRow& row) { return row.name != options.name; });
  if (rows.empty()) return error("ops: there is no operator '{}'; without a name all are listed", options.name);
  if (options.json) {
    put_json(to_json(rows, !options.name.empty()));
  } else if (options.document) {
    put(op_document(rows));
  } else {
    Table table({"domain", "operator", "opsets", "types", "gradient"}, {});
    for (const OpRow& row : rows)
      table.row({row.domain, row.name, fmt::format("{}-{}", row.since, row.until), types_text(row.types), row.gradient ? "x" : ""});
    put(table.text());
    if (options.name.empty()) return kSuccess;
    for (const OpRow& row : rows) print("\n{} {}, {}", row.domain, row.name, op_details(*row.op));
  }
  return kSuccess;
}

}  // namespace ops_command

Action add_ops(Command& program) {
  using namespace ops_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("ops", "List the operators that models may have, with opsets and types");
  command.add_option("OPERATOR", options->name, "Only this one, with its attributes")->type_name("");
  command.add_flag("--document", options->document, "Print the table as OPERATORS.md has it");
  add_json(command, options->json);
  command.footer(
      "Types are those of the first input and of what has its type: float (float32, float64, float16, bfloat16), int and uint\n"
      "(8 to 64 bits), float8 (four formats), int4 (4 and 2 bits, signed or not), all.\n"
      "Examples:\n  svengine ops\n  svengine ops Conv --json");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
