// svengine convert: writes a model as another one, and runs both to see that they agree.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "importers/io/names.h"
#include "tools/commands/commands.h"
#include "tools/support/inputs.h"
#include "tools/support/json.h"
#include "tools/support/network.h"
#include "tools/support/output.h"
#include "validate/convert/convert.h"
#include "validate/convert/verify.h"

namespace svengine::tool {
namespace convert_command {

struct Options {
  ModelFile model;
  std::string output, type;
  std::vector<std::string> from, to, keep;
  int opset = 0;
  bool simplify = false, keep_io = false, external = false, embed = false, no_verify = false, json = false;
  double growth_mib = 1;
  InputOptions inputs;
  RuntimeOptions runtime;
};

using validate::VerifiedOutput;

Result<DType> type_of(const std::string& name) {
  if (name == "float16") return DType::f16;
  if (name == "bfloat16") return DType::bf16;
  return DType::f64;
}

Result<validate::ConvertOptions> convert_options(const Options& options) {
  using Data = onnx::WriteOptions::Data;
  validate::ConvertOptions out{.from = options.from, .to = options.to, .simplify = options.simplify};
  out.growth_bytes = static_cast<int64_t>(options.growth_mib * (1 << 20));
  if (options.opset) out.opset = options.opset;
  if (!options.type.empty()) {
    SV_ASSIGN(const DType type, type_of(options.type));
    out.type = validate::ChangeTypeOptions{type, options.keep_io, options.keep};
  } else if (options.keep_io || !options.keep.empty()) {
    return error("--keep-io and --keep-float32 go with --type");
  }
  out.write.data = options.external ? Data::external : options.embed ? Data::embedded : Data::as_is;
  return out;
}

/// On inputs that are given or random.
Result<std::vector<VerifiedOutput>> verify(const Options& options, const validate::ConvertOptions& wanted, const SessionOptions& session) {
  SV_ASSIGN(Model written, load_model({options.output}));
  SV_ASSIGN(const Inputs inputs, make_inputs(input_ports(written.graph), options.inputs, find_index_bounds(written.graph)));
  return validate::verify_converted(std::move(written.graph), inputs.tensors, options.model.path, options.output, wanted, session);
}

Json to_json(const Options& options, const validate::ConvertReport& report, const std::vector<VerifiedOutput>& verified, bool passed) {
  Json out = {{"model", options.model.path}, {"output", options.output}, {"opset", report.opset}};
  if (report.simplified)
    out["simplified"] = {{"nodes_before", report.simplified->nodes_before}, {"nodes_after", report.simplified->nodes_after},
                         {"constant_bytes_before", report.simplified->bytes_before}, {"constant_bytes_after", report.simplified->bytes_after}};
  Json saturated = Json::array();
  for (const validate::Saturated& s : report.saturated) saturated.push_back({{"weight", s.name}, {"elements", s.count}});
  out["saturated"] = std::move(saturated);
  out["problems"] = report.problems;
  if (options.no_verify) return out;
  Json outputs = Json::array();
  for (const VerifiedOutput& v : verified)
    outputs.push_back({{"name", v.name}, {"passed", v.comparison.passed}, {"over_tolerance", v.comparison.over}, {"elements", v.comparison.count},
                       {"worst_absolute", v.comparison.worst_abs}, {"mismatch", v.comparison.mismatch}});
  out["passed"] = passed;
  out["outputs"] = std::move(outputs);
  return out;
}

std::string to_text(const Options& options, const validate::ConvertReport& report, const std::vector<VerifiedOutput>& verified) {
  std::string out = fmt::format("{}: opset {}", options.output, report.opset);
  if (const auto& s = report.simplified)
    out += fmt::format(", {} nodes of {}, {} bytes of constants of {}", grouped(static_cast<int64_t>(s->nodes_after)),
                       grouped(static_cast<int64_t>(s->nodes_before)), grouped(s->bytes_after), grouped(s->bytes_before));
  out += '\n';
  for (const validate::Saturated& s : report.saturated)
    out += fmt::format("  {} elements of '{}' are now the largest number of {}\n", grouped(s.count), printable(s.name), options.type);
  for (const std::string& problem : report.problems) out += fmt::format("  INVALID {}\n", problem);
  if (options.no_verify) return out;
  Table table({"", "output", "over", "elements", "worst absolute error"}, {Table::Align::left, Table::Align::left, Table::Align::right});
  for (const VerifiedOutput& v : verified)
    table.row({v.comparison.passed ? "same" : "DIFFERS", v.name, grouped(v.comparison.over), grouped(v.comparison.count),
               v.comparison.mismatch.empty() ? fmt::format("{:.3g}", v.comparison.worst_abs) : v.comparison.mismatch});
  return out + table.text("  ");
}

Result<int> run(const Options& options) {
  SV_ASSIGN(const validate::ConvertOptions wanted, convert_options(options));
  SV_ASSIGN(SessionOptions session, options.runtime.resolve());
  SV_TRY(choose_kernels(session));
  if (!options.no_verify) SV_TRY(validate::check_can_verify(options.model.path, options.output));
  const PassContext context = pass_context(*session.kernels);
  SV_ASSIGN(const validate::ConvertReport report, validate::convert(options.model.path, options.output, wanted, context));
  std::vector<VerifiedOutput> verified;
  if (!options.no_verify) {
    Result<std::vector<VerifiedOutput>> compared = verify(options, wanted, session);
    if (!compared.ok()) return std::move(compared).error().in(fmt::format("{} is written, but not verified (--no-verify)", options.output));
    verified = std::move(*compared);
  }
  const bool passed =
      report.problems.empty() && std::all_of(verified.begin(), verified.end(), [](const VerifiedOutput& v) { return v.comparison.passed; });
  if (options.json) put_json(to_json(options, report, verified, passed));
  else put(to_text(options, report, verified));
  return passed ? kSuccess : kFailed;
}

}  // namespace convert_command

Action add_convert(Command& program) {
  using namespace convert_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("convert", "Write a model in another opset or type, simplified, or a part of it");
  add_model(command, options->model);
  command.add_option("OUTPUT", options->output, "The file to write")->required()->type_name("");
  command.add_option("--opset", options->opset, "Opset of ai.onnx (default: the model's, or 13)")->check(within(13, kNewestOpset))->type_name("N");
  command.add_flag("--simplify", options->simplify, "Fold constants, decide branches, drop what changes nothing");
  command.add_option("--growth", options->growth_mib, "MiB by which folded constants may grow the model (default: 1)")
      ->check(not_negative())->type_name("MIB");
  command.add_option("--type", options->type, "float16, bfloat16 or double, for what is float32")
      ->check(one_of({"float16", "bfloat16", "double"}))->type_name("TYPE");
  command.add_flag("--keep-io", options->keep_io, "Inputs and outputs stay float32");
  command.add_option("--keep-float32", options->keep, "Operators or nodes that stay in float32")
      ->delimiter(',')
      ->one_at_a_time()
      ->type_name("NAME,...");
  command.add_option("--from", options->from, "Values that become inputs")->delimiter(',')->one_at_a_time()->type_name("NAME,...");
  command.add_option("--to", options->to, "Values that become the outputs")->delimiter(',')->one_at_a_time()->type_name("NAME,...");
  command.add_flag("--external", options->external, "Weights in OUTPUT.data beside the model, as models of 2 GiB and more need");
  command.add_flag("--embed", options->embed, "All weights in the model");
  command.add_flag("--no-verify", options->no_verify, "Do not run both models");
  add_input_options(command, options->inputs);
  add_machine_options(command, options->runtime);
  add_json(command, options->json);
  command.footer(
      "Both models are run on the same inputs; exit code 1 when their outputs differ, or the new one is not valid.\n"
      "Examples:\n  svengine convert model.onnx new.onnx --opset 21 --simplify\n"
      "  svengine convert model.onnx half.onnx --type float16 --keep-io\n"
      "  svengine convert model.onnx head.onnx --from features --to logits");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
