// svengine sensitivity: what quantising each node by itself does to the outputs.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/file.h"
#include "importers/io/names.h"
#include "tools/commands/commands.h"
#include "tools/support/inputs.h"
#include "tools/support/output.h"
#include "tools/support/quantization.h"
#include "validate/quantize/sensitivity.h"

namespace svengine::tool {
namespace sensitivity_command {

struct Options {
  QuantizationOptions quantization;
  int64_t top = 20;
  std::optional<double> keep_snr;
  std::string exclusions;
  bool json = false;
};

struct Report {
  std::vector<validate::NodeSensitivity> ranking;
  std::vector<validate::OutputNoise> all;
  std::optional<validate::Exclusions> exclusions;
  size_t samples = 0;
};

/// One line on a terminal, redrawn.
void show_progress(size_t done, size_t all) {
  if (isatty(STDERR_FILENO) != 1) return;
  const std::string line = all ? fmt::format("\r\x1b[K{} of {} nodes", done, all) : fmt::format("\r\x1b[Klooking for exclusions: trial {}", done);
  std::fputs(line.c_str(), stderr);
}

Status write_exclusions(const Options& options, const Report& report) {
  const std::string text = validate::exclusions_text(*report.exclusions, report.ranking, *options.keep_snr);
  SV_ASSIGN(AtomicFile file, AtomicFile::create(options.exclusions));
  SV_TRY(file.write(text));
  return file.finish();
}

Result<Report> measure(const Options& options) {
  validate::SensitivityOptions how{{}, show_progress};
  SV_ASSIGN(how.quantization, options.quantization.resolve());
  SV_ASSIGN(const Model model, load_prepared(options.quantization, how.quantization.calibration.session));
  SV_ASSIGN(const auto samples, open_samples(input_ports(model.graph), options.quantization.samples));
  Report report;
  report.samples = samples->size();
  SV_ASSIGN(auto trials, validate::SensitivityTrials::start(model.graph, *samples, std::move(how)));
  SV_ASSIGN(report.ranking, trials.rank());
  SV_ASSIGN(report.all, trials.all());
  if (options.keep_snr) {
    SV_ASSIGN(report.exclusions, trials.exclusions_for(report.ranking, *options.keep_snr));
  }
  if (isatty(STDERR_FILENO) == 1) std::fputs("\r\x1b[K", stderr);
  if (!options.exclusions.empty()) SV_TRY(write_exclusions(options, report));
  return report;
}

Json to_json(const Options& options, const Report& report) {
  Json nodes = Json::array();
  for (const validate::NodeSensitivity& n : report.ranking)
    nodes.push_back({{"node", n.selector}, {"operator", n.op}, {"snr_db", n.snr()}, {"outputs", noise_json(n.outputs)}});
  Json out = {{"model", options.quantization.model.path}, {"samples", report.samples}, {"all_quantized", noise_json(report.all)}};
  out["nodes"] = std::move(nodes);
  if (report.exclusions)
    out["exclusions"] = {{"keep_snr", *options.keep_snr}, {"snr_db", report.exclusions->snr}, {"nodes", report.exclusions->selectors}};
  return out;
}

std::string to_text(const Options& options, const Report& report) {
  Table table({"node", "operator", "signal to noise", "relative error", "worst output"},
              {Table::Align::left, Table::Align::left, Table::Align::right, Table::Align::right, Table::Align::left});
  int64_t shown = 0;
  for (const validate::NodeSensitivity& n : report.ranking) {
    if (++shown > options.top) break;
    const auto worst =
        std::min_element(n.outputs.begin(), n.outputs.end(), [](const auto& a, const auto& b) { return a.noise.snr() < b.noise.snr(); });
    table.row({printable(n.selector), n.op, snr_text(n.snr()), fmt::format("{:.3g}", worst->noise.relative()), printable(worst->name)});
  }
  std::string out = fmt::format("Each of {} nodes quantised alone, on {} samples:\n", report.ranking.size(), report.samples) + table.text("  ");
  const auto more = static_cast<int64_t>(report.ranking.size()) - options.top;
  if (more > 0) out += fmt::format("  and {} more, less sensitive; see --top\n", more);
  out += fmt::format("All quantised: {}\n", snr_text(validate::worst_snr(report.all)));
  if (report.exclusions)
    out += fmt::format("Without the first {}: {}, {:g} dB wanted{}\n", report.exclusions->selectors.size(), snr_text(report.exclusions->snr),
                       *options.keep_snr, options.exclusions.empty() ? std::string() : "; written to " + printable(options.exclusions));
  return out;
}

Result<int> run(const Options& options) {
  SV_ASSIGN(const Report report, measure(options));
  if (options.json) put_json(to_json(options, report));
  else put(to_text(options, report));
  return kSuccess;
}

}  // namespace sensitivity_command

Action add_sensitivity(Command& program) {
  using namespace sensitivity_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("sensitivity", "Rank nodes by what quantising each of them does to the outputs");
  add_model(command, options->quantization.model);
  Option* keep = command.add_option("--keep-snr", options->keep_snr, "Find the nodes to leave out for this signal-to-noise ratio")->type_name("DB");
  command.add_option("--write-exclusions", options->exclusions, "Write them there, for quantize --exclude")->type_name("FILE")->needs(keep);
  command.add_option("--top", options->top, "Show so many nodes (default: 20)")->check(within(int64_t{1}, int64_t{1} << 30))->type_name("K");
  add_json(command, options->json);
  add_quantization_options(command, options->quantization);
  command.footer(
      "Examples:\n  svengine sensitivity model.onnx --calibrate inputs.npz --samples 16\n"
      "  svengine sensitivity model.onnx --calibrate images/ --keep-snr 30 --write-exclusions exclusions.txt");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
