// svengine quantize: a network of 8-bit integers from one of float32.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "importers/io/names.h"
#include "importers/onnx/import.h"
#include "tools/commands/commands.h"
#include "tools/support/inputs.h"
#include "tools/support/network.h"
#include "tools/support/output.h"
#include "tools/support/quantization.h"
#include "validate/convert/weights_stay.h"

namespace svengine::tool {
namespace quantize_command {

struct Options {
  QuantizationOptions quantization;
  std::string output;
  bool dynamic = false;
  std::optional<double> least_snr;
  bool json = false;
};

struct Report {
  validate::QuantizedCounts counts;
  std::vector<validate::OutputNoise> outputs;  // empty: there was no sample to compare on
  size_t samples = 0;
  uint64_t bytes_before = 0, bytes_after = 0;
};

/// Both files, as anybody reads them.
Result<std::vector<validate::OutputNoise>> verify(const Options& options, validate::InputSamples& samples) {
  const auto session_of = [&](const std::string& path) -> Result<std::unique_ptr<Session>> {
    SV_ASSIGN(Network network, load_network({.path = path}, options.quantization.runtime));
    return std::move(network.session);
  };
  SV_ASSIGN(std::unique_ptr<Session> before, session_of(options.quantization.model.path));
  SV_ASSIGN(const std::unique_ptr<Session> after, session_of(options.output));
  validate::ReferenceOutputs reference(std::move(before));
  Result<std::vector<validate::OutputNoise>> noise = validate::compare_on_samples(reference, *after, samples);
  if (!noise.ok()) return std::move(noise).error().in(printable(options.output));
  return noise;
}

uint64_t size_of_file(const std::string& path) {
  std::error_code ignored;
  const uint64_t size = std::filesystem::file_size(path, ignored);
  return ignored ? 0 : size;
}

Result<Report> quantize(const Options& options) {
  Report report;
  std::error_code ignored;
  if (std::filesystem::equivalent(options.quantization.model.path, options.output, ignored))
    return error("{}: is the model itself, which is needed to compare with; name another file to write", printable(options.output));
  SV_ASSIGN(const validate::StaticOptions how, options.quantization.resolve());
  SV_TRY(validate::check_weights_stay(options.quantization.model.path, {options.output}));
  SV_ASSIGN(Model model, load_prepared(options.quantization, how.calibration.session));
  const std::vector<Session::Port> ports = input_ports(model.graph);
  std::unique_ptr<validate::InputSamples> samples;
  if (!options.dynamic || !options.quantization.samples.paths.empty()) {
    SV_ASSIGN(samples, open_samples(ports, options.quantization.samples));
  }
  Result<validate::QuantizedCounts> counts = options.dynamic ? validate::quantize_dynamic(model.graph, how.nodes, how.insert.per_channel)
                                                             : validate::quantize_static(model.graph, *samples, how);
  if (!counts.ok()) return std::move(counts).error().in(printable(options.quantization.model.path));
  report.counts = *counts;
  report.bytes_before = size_of_file(options.quantization.model.path);
  SV_TRY(validate::write_quantized(model.graph, model, SVENGINE_VERSION, options.output));
  report.bytes_after = size_of_file(options.output);
  if (!samples) return report;
  report.samples = samples->size();
  SV_ASSIGN(report.outputs, verify(options, *samples));
  return report;
}

Json to_json(const Options& options, const Report& r, bool passed) {
  Json out = {{"model", options.quantization.model.path}, {"output", options.output}, {"quantized_nodes", r.counts.products},
              {"nodes_left", r.counts.left}, {"values", r.counts.values}, {"bytes_before", r.bytes_before}, {"bytes_after", r.bytes_after},
              {"samples", r.samples}, {"passed", passed}};
  out["outputs"] = noise_json(r.outputs);
  return out;
}

std::string to_text(const Options& options, const Report& r) {
  std::string out = fmt::format("{} of {} products of weights quantised{}; {} -> {}\n", grouped(r.counts.products),
                                grouped(r.counts.products + r.counts.left),
                                r.counts.values ? fmt::format(", {} values of 8 bits", grouped(r.counts.values)) : std::string(),
                                bytes_text(static_cast<double>(r.bytes_before)), bytes_text(static_cast<double>(r.bytes_after)));
  if (r.outputs.empty()) return out + "not compared with the original: give --calibrate\n";
  Table table({"output", "signal to noise", "relative error", "largest error"},
              {Table::Align::left, Table::Align::right, Table::Align::right, Table::Align::right});
  for (const auto& [name, noise] : r.outputs)
    table.row({printable(name), snr_text(noise.snr()), fmt::format("{:.3g}", noise.relative()),
               noise.mismatch.empty() ? fmt::format("{:.3g}", noise.largest) : noise.mismatch});
  return out +
         fmt::format("{} against {} on {} samples:\n", printable(options.output), printable(options.quantization.model.path),
                     grouped(static_cast<int64_t>(r.samples))) +
         table.text("  ");
}

Result<int> run(const Options& options) {
  SV_ASSIGN(const Report report, quantize(options));
  const bool passed = !options.least_snr || report.outputs.empty() || validate::worst_snr(report.outputs) >= *options.least_snr;
  if (options.json) {
    put_json(to_json(options, report, passed));
  } else {
    put(to_text(options, report));
    if (options.least_snr) print("{}: {:g} dB wanted\n", passed ? "pass" : "FAIL", *options.least_snr);
  }
  return passed ? kSuccess : kFailed;
}

}  // namespace quantize_command

Action add_quantize(Command& program) {
  using namespace quantize_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("quantize", "Write a network with 8-bit integers, and say what that costs in precision");
  add_model(command, options->quantization.model);
  command.add_option("OUT", options->output, "The file to write")->type_name("")->required();
  command.add_flag("--dynamic", options->dynamic, "MatMul and Gemm alone; every run measures its ranges");
  command.add_option("--min-snr", options->least_snr, "Exit code 1 when an output's signal-to-noise ratio is lower")->type_name("DB");
  add_json(command, options->json);
  add_quantization_options(command, options->quantization);
  command.footer(
      "Examples:\n  svengine quantize resnet50.onnx int8.onnx --calibrate images/ --resize 256 --exclude exclusions.txt\n"
      "  svengine quantize bert.onnx int8.onnx --dynamic");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
