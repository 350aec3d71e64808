// svengine check: everything that is wrong with a model file, in one run.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "engine/graph/op_def.h"
#include "tools/commands/commands.h"
#include "tools/support/json.h"
#include "tools/support/options.h"
#include "tools/support/output.h"
#include "validate/check/check.h"

namespace svengine::tool {
namespace check_command {

using validate::Finding, validate::Level, validate::Rule;

struct Options {
  std::string model;
  std::vector<std::string> plugins;
  validate::CheckOptions check;
  bool strict = false, no_weights = false, rules = false, document = false, json = false;
};

Result<int> list_rules(const Options& options) {
  if (options.json) {
    Json out = Json::array();
    for (const Rule& rule : validate::kRules) out.push_back({{"rule", rule.name}, {"level", name_of(rule.level)}, {"what", rule.what}});
    put_json(out);
    return kSuccess;
  }
  Table table({"rule", "level", "what a finding says"}, {});
  if (options.document) put("| rule | level | what a finding says |\n|---|---|---|\n");
  for (const Rule& rule : validate::kRules) {
    if (options.document)
      print("| `{}` | {} | {} |\n", rule.name, name_of(rule.level), rule.what);
    else
      table.row({std::string(rule.name), std::string(name_of(rule.level)), std::string(rule.what)});
  }
  if (!options.document) put(table.text());
  return kSuccess;
}

Json to_json(const Options& options, const validate::CheckReport& report, bool passed) {
  Json findings = Json::array();
  for (const Finding& f : report.findings.list())
    findings.push_back(
        {{"level", name_of(f.rule->level)}, {"rule", f.rule->name}, {"where", f.where}, {"message", f.message}, {"nodes", f.nodes}});
  return {{"model", options.model},
          {"passed", passed},
          {"nodes", report.nodes},
          {"tensors", report.tensors},
          {"errors", report.findings.count_of(Level::error)},
          {"warnings", report.findings.count_of(Level::warning)},
          {"notes", report.findings.count_of(Level::note)},
          {"left_out", report.findings.left_out()},
          {"findings", std::move(findings)}};
}

std::string counted(int64_t count, const char* what) { return fmt::format("{} {}{}", grouped(count), what, count == 1 ? "" : "s"); }

void print_report(const validate::CheckReport& report, bool passed) {
  Table table({"level", "rule", "where", "message"}, {});
  for (const Finding& f : report.findings.list())
    table.row({std::string(name_of(f.rule->level)), std::string(f.rule->name), f.where.empty() ? "model" : f.where, f.message});
  if (!report.findings.list().empty()) put(table.text());
  if (report.findings.left_out())
    print("and {} more, of rules that have {} findings and more\n", grouped(report.findings.left_out()), validate::Findings::kMostOfRule);
  print("{}: {}, {}, {} in {} and {}\n", passed ? "pass" : "FAIL", counted(report.findings.count_of(Level::error), "error"),
        counted(report.findings.count_of(Level::warning), "warning"), counted(report.findings.count_of(Level::note), "note"),
        counted(report.nodes, "node"), counted(report.tensors, "tensor"));
}

Result<int> run(Options options) {
  if (options.rules || options.document) return list_rules(options);
  if (options.model.empty()) return error("check: MODEL is missing; see 'svengine check --help'");
  options.check.weights = !options.no_weights;
  SV_ASSIGN(const validate::CheckReport report, validate::check_model(options.model, options.check));
  const bool passed = report.findings.count_of(Level::error) == 0 && !(options.strict && report.findings.count_of(Level::warning) > 0);
  if (options.json)
    put_json(to_json(options, report, passed));
  else
    print_report(report, passed);
  return passed ? kSuccess : kFailed;
}

}  // namespace check_command

Action add_check(Command& program) {
  using namespace check_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("check", "Tell everything that is wrong with a model file");
  command.add_option("MODEL", options->model, "ONNX file")->type_name("");
  command.add_option("--opset", options->check.opset, "Also tell what ai.onnx has not in this opset, or has in another form")
      ->check(within(kOldestOpset, kNewestOpset))
      ->type_name("N");
  command.add_flag("--strict", options->strict, "Warnings fail too");
  command.add_flag("--no-weights", options->no_weights, "Leave the values of weights and checksums alone");
  command.add_flag("--rules", options->rules, "List the rules");
  command.add_flag("--document", options->document, "List the rules as VALIDATING.md has them");
  add_plugins(command, options->plugins);
  add_json(command, options->json);
  command.footer(
      "An error: the file is not valid ONNX, or cannot be what was meant. A warning: valid, but odd, or not for this engine.\n"
      "Exit code 0 without errors, 1 with errors (--strict: or warnings), 2 when the file is no model.\n"
      "Examples:\n  svengine check model.onnx\n  svengine check model.onnx --opset 17 --json\n  svengine check --rules");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
