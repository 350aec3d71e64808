#include "tools/support/quantization.h"

#include <cmath>
#include <filesystem>

#include "engine/base/file.h"
#include "importers/io/names.h"
#include "tools/support/network.h"
#include "tools/support/output.h"
#include "validate/quantize/sensitivity.h"

namespace svengine::tool {

void add_quantization_options(Command& command, QuantizationOptions& options) {
  command.add_option("--method", options.method, "Ranges of values: min-max (default), percentile, or entropy")
      ->check(one_of({"min-max", "percentile", "entropy"}))
      ->type_name("M");
  command.add_option("--percentile", options.percentile, "Per cent of the elements that a range holds (default: 99.999)")
      ->check(within(50.0, 100.0))
      ->type_name("P");
  command.add_option("--activations", options.activations, "Type of values: uint8 (default) or int8; weights are int8")
      ->check(one_of({"uint8", "int8"}))
      ->type_name("T");
  command.add_flag("--per-tensor", options.per_tensor, "One scale for a node's weights instead of one per output channel");
  command.add_option("--exclude", options.exclude, "Leave out these nodes ('*' is any text), or those that a file lists")
      ->type_name("FILE|NODE");
  command.add_option("--only", options.only, "Only these of Conv, ConvTranspose, MatMul, Gemm (default: all)")
      ->type_name("OP");
  add_sample_options(command, options.samples);
  add_machine_options(command, options.runtime);
}

Result<validate::StaticOptions> QuantizationOptions::resolve() const {
  using Method = validate::CalibrationMethod;
  validate::StaticOptions out;
  out.nodes.only = only;
  for (const std::string& given : exclude) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(given, ignored)) {
      out.nodes.exclude.push_back(given);
      continue;
    }
    SV_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(given));
    const std::string text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
    for (std::string& selector : validate::parse_exclusions(text)) out.nodes.exclude.push_back(std::move(selector));
  }
  out.calibration.method = method == "entropy" ? Method::entropy : method == "percentile" ? Method::percentile : Method::min_max;
  out.calibration.percentile = percentile;
  SV_ASSIGN(out.calibration.session, runtime.resolve());
  out.insert.activations = activations == "int8" ? DType::i8 : DType::u8;
  out.insert.per_channel = !per_tensor;
  return out;
}

Result<Model> load_prepared(const QuantizationOptions& options, const SessionOptions& session) {
  SV_ASSIGN(Model model, load_model(options.model));
  Status status = validate::prepare_for_quantization(model.graph, session);
  if (!status.ok()) return std::move(status).error().in(printable(options.model.path));
  return model;
}

std::string snr_text(double snr) {
  if (std::isinf(snr)) return snr > 0 ? "equal" : "lost";
  return fmt::format("{:.1f} dB", snr);
}

Json noise_json(const std::vector<validate::OutputNoise>& outputs) {
  Json out = Json::array();
  for (const auto& [name, noise] : outputs) {
    out.push_back({{"output", name}, {"snr_db", noise.snr()}, {"relative_error", noise.relative()}, {"largest_error", noise.largest},
                   {"elements", noise.elements}});
    if (!noise.mismatch.empty()) out.back()["mismatch"] = noise.mismatch;
  }
  return out;
}

}  // namespace svengine::tool
