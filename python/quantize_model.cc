// The work behind svengine.quantize() and svengine.sensitivity(): validate/quantize's, as dicts that svengine/quantization.py makes classes of.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>

#include "importers/io/names.h"
#include "importers/onnx/import.h"
#include "python/arguments.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/model_inputs.h"
#include "python/model_source.h"
#include "python/options.h"
#include "validate/convert/weights_stay.h"
#include "validate/quantize/sensitivity.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

using Names = std::vector<std::string>;
using validate::OutputNoise;

/// Inputs that Python has given, one after the other. Their arrays are borrowed.
class GivenSamples final : public validate::InputSamples {
 public:
  GivenSamples(const Graph& graph, nb::handle samples, const std::string& name) {
    for (const nb::handle sample : samples) read_.push_back(model_inputs(graph, sample, fmt::format("{}: samples[{}]", name, read_.size())));
  }
  size_t size() const override { return read_.size(); }
  Result<std::vector<Tensor>> read(size_t index) override { return read_[index]; }

 private:
  std::vector<std::vector<Tensor>> read_;
};

Result<validate::StaticOptions> static_options(const Arguments& a) {
  using Method = validate::CalibrationMethod;
  validate::StaticOptions out;
  out.nodes = {a.get<Names>("exclude"), a.get<Names>("only")};
  const auto method = a.get<std::string>("method"), activations = a.get<std::string>("activations");
  if (method != "min-max" && method != "percentile" && method != "entropy")
    return error("method='{}': there are min-max, percentile and entropy", method);
  out.calibration.method = method == "entropy" ? Method::entropy : method == "percentile" ? Method::percentile : Method::min_max;
  out.calibration.percentile = a.get<double>("percentile");
  if (!(out.calibration.percentile >= 50 && out.calibration.percentile <= 100))
    return error("percentile={}: 50 to 100 are possible", out.calibration.percentile);
  if (activations != "uint8" && activations != "int8") return error("activations='{}': there are uint8 and int8", activations);
  out.insert.activations = activations == "int8" ? DType::i8 : DType::u8;
  out.insert.per_channel = !a.get<bool>("per_tensor");
  SessionArguments how;
  how.threads = a.get<std::optional<int>>("threads");
  how.kernels = a.get<std::string>("kernels");
  SV_ASSIGN(out.calibration.session, how.resolve());
  return out;
}

/// The model, its graph prepared for quantisation.
Model load_prepared(const ModelSource& source, const SessionOptions& session) {
  const nb::gil_scoped_release other_threads_run;
  Model model = value_of(source.read({}));
  const Status status = validate::prepare_for_quantization(model.graph, session);
  if (!status.ok()) throw EngineError(Error(status.error()).in(source.name()));
  return model;
}

nb::list to_python(const std::vector<OutputNoise>& outputs) {
  nb::list out;
  for (const auto& [name, noise] : outputs) {
    nb::dict row;
    row["output"] = text(name);
    row["snr"] = noise.snr();
    row["relative"] = noise.relative();
    row["largest"] = noise.largest;
    row["elements"] = noise.elements;
    row["mismatch"] = text(noise.mismatch);
    out.append(row);
  }
  return out;
}

uint64_t size_of_source(const ModelSource& source) {
  std::error_code ignored;
  const uint64_t size = source.is_path() ? std::filesystem::file_size(source.name(), ignored) : source.bytes().size();
  return ignored ? 0 : size;
}

/// Both models, as anybody reads them.
std::vector<OutputNoise> noise_of(const ModelSource& source, const std::string& output, validate::InputSamples& samples,
                                  const SessionOptions& options) {
  const auto session_of = [&](Model model) { return value_of(Session::create(std::move(model.graph), options)); };
  validate::ReferenceOutputs reference(session_of(value_of(source.read({}))));
  const std::unique_ptr<Session> after = session_of(value_of(import_onnx(output)));
  Result<std::vector<OutputNoise>> noise = validate::compare_on_samples(reference, *after, samples);
  if (!noise.ok()) throw EngineError(std::move(noise).error().in(output));
  return std::move(noise).value();
}

nb::dict quantize_source(nb::handle model, const std::string& output, nb::handle samples, const nb::dict& values) {
  const Arguments arguments(values);
  const bool dynamic = arguments.get<bool>("dynamic");
  const validate::StaticOptions how = value_of(static_options(arguments));
  const ModelSource source(model);
  std::error_code ignored;
  if (source.is_path() && std::filesystem::equivalent(source.name(), output, ignored))
    throw EngineError(fmt::format("{}: is the model itself, which is needed to compare with; name another file to write", printable(output)));
  if (source.is_path()) check(validate::check_weights_stay(source.name(), {output}));
  Model read = load_prepared(source, how.calibration.session);
  GivenSamples given(read.graph, samples, source.name());
  if (!dynamic && given.size() == 0) throw EngineError("samples: inputs are needed on which ranges are measured");
  validate::QuantizedCounts counts;
  std::vector<OutputNoise> noise;
  {
    const nb::gil_scoped_release other_threads_run;
    Result<validate::QuantizedCounts> made = dynamic ? validate::quantize_dynamic(read.graph, how.nodes, how.insert.per_channel)
                                                     : validate::quantize_static(read.graph, given, how);
    if (!made.ok()) throw EngineError(std::move(made).error().in(source.name()));
    counts = *made;
    check(validate::write_quantized(read.graph, read, SVENGINE_VERSION, output));
    if (given.size() > 0) noise = noise_of(source, output, given, how.calibration.session);
  }
  nb::dict out;
  out["quantized_nodes"] = counts.products;
  out["nodes_left"] = counts.left;
  out["values"] = counts.values;
  out["bytes_before"] = size_of_source(source);
  const uint64_t after = std::filesystem::file_size(output, ignored);
  out["bytes_after"] = ignored ? 0 : after;
  out["samples"] = given.size();
  out["outputs"] = to_python(noise);
  return out;
}

struct Sensitivity {
  std::vector<validate::NodeSensitivity> ranking;
  std::vector<OutputNoise> all;
  std::optional<validate::Exclusions> exclusions;
};

Result<Sensitivity> measure_sensitivity(const Graph& graph, validate::InputSamples& samples, const validate::StaticOptions& how,
                                        std::optional<double> keep_snr) {
  const nb::gil_scoped_release other_threads_run;
  Sensitivity out;
  SV_ASSIGN(auto trials, validate::SensitivityTrials::start(graph, samples, {how, {}}));
  SV_ASSIGN(out.ranking, trials.rank());
  SV_ASSIGN(out.all, trials.all());
  if (keep_snr) {
    SV_ASSIGN(out.exclusions, trials.exclusions_for(out.ranking, *keep_snr));
  }
  return out;
}

nb::dict sensitivity_of(nb::handle model, nb::handle samples, const nb::dict& values) {
  const Arguments arguments(values);
  const auto keep_snr = arguments.get<std::optional<double>>("keep_snr");
  const validate::StaticOptions how = value_of(static_options(arguments));
  const ModelSource source(model);
  const Model read = load_prepared(source, how.calibration.session);
  GivenSamples given(read.graph, samples, source.name());
  if (given.size() == 0) throw EngineError("samples: inputs are needed on which ranges are measured");
  Result<Sensitivity> measured = measure_sensitivity(read.graph, given, how, keep_snr);
  if (!measured.ok()) throw EngineError(std::move(measured).error().in(source.name()));
  nb::list nodes;
  for (const validate::NodeSensitivity& n : measured->ranking) {
    nb::dict row;
    row["node"] = text(n.selector);
    row["operator"] = text(n.op);
    row["snr"] = n.snr();
    row["outputs"] = to_python(n.outputs);
    nodes.append(row);
  }
  nb::dict out;
  out["nodes"] = nodes;
  out["all_quantized"] = to_python(measured->all);
  out["exclusions"] = nb::none();
  if (measured->exclusions) {
    nb::dict exclusions;
    exclusions["nodes"] = texts(measured->exclusions->selectors);
    exclusions["snr"] = measured->exclusions->snr;
    exclusions["text"] = text(validate::exclusions_text(*measured->exclusions, measured->ranking, *keep_snr));
    out["exclusions"] = exclusions;
  }
  return out;
}

}  // namespace

void bind_quantize(nb::module_& module) {
  module.def("quantize", quantize_source, nb::arg("model"), nb::arg("output"), nb::arg("samples"), nb::arg("options"));
  module.def("sensitivity", sensitivity_of, nb::arg("model"), nb::arg("samples"), nb::arg("options"));
  module.def("parse_exclusions", validate::parse_exclusions, nb::arg("text"), "The selectors of a list that sensitivity() has written.");
}

}  // namespace svengine::python
