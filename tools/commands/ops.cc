// svengine ops: the operators that models may have.
#include <memory>
#include <string>

#include "tools/commands/commands.h"
#include "tools/support/json.h"
#include "tools/support/op_table.h"
#include "tools/support/options.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace ops_command {

struct Options {
  std::string name;
  bool json = false, document = false;
};

Json to_json(const std::vector<OpRow>& rows) {
  Json out = Json::array();
  for (const OpRow& row : rows) {
    Json types = Json::array();
    for (std::string& name : names_of(row.types)) types.push_back(std::move(name));
    out.push_back({{"domain", row.domain}, {"operator", row.name}, {"since", row.since}, {"until", row.until}, {"types", std::move(types)},
                   {"gradient", row.gradient}});
  }
  return out;
}

Result<int> run(const Options& options) {
  std::vector<OpRow> rows = op_table();
  if (!options.name.empty()) std::erase_if(rows, [&](const OpRow& row) { return row.name != options.name; });
  if (rows.empty()) return error("ops: there is no operator '{}'; without a name all are listed", options.name);
  if (options.json) {
    put_json(to_json(rows));
  } else if (options.document) {
    put(op_document(rows));
  } else {
    Table table({"domain", "operator", "opsets", "types", "gradient"}, {});
    for (const OpRow& row : rows)
      table.row({row.domain, row.name, fmt::format("{}-{}", row.since, row.until), types_text(row.types), row.gradient ? "x" : ""});
    put(table.text());
  }
  return kSuccess;
}

}  // namespace ops_command

Action add_ops(Command& program) {
  using namespace ops_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("ops", "List the operators that models may have, with opsets and types");
  command.add_option("OPERATOR", options->name, "Only this one")->type_name("");
  command.add_flag("--document", options->document, "Print the table as OPERATORS.md has it");
  add_json(command, options->json);
  command.footer(
      "Types are those of the first input and of what has its type: float (float32, float64, float16, bfloat16), int and uint\n"
      "(8 to 64 bits), float8 (four formats), int4 (4 and 2 bits, signed or not), all.\n"
      "Examples:\n  svengine ops\n  svengine ops Conv --json");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
