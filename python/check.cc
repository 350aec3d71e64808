// The work behind svengine.check(): validate/check's, as dicts that svengine/validation.py makes classes of.
#include "validate/check/check.h"

#include <nanobind/stl/string.h>

#include "python/bindings.h"
#include "python/convert.h"
#include "python/model_source.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

using validate::Finding, validate::Level;

nb::dict to_python(const Finding& finding) {
  nb::dict out;
  out["level"] = text(name_of(finding.rule->level));
  out["rule"] = text(finding.rule->name);
  out["where"] = text(finding.where);
  out["message"] = text(finding.message);
  out["nodes"] = texts(finding.nodes);
  return out;
}

validate::CheckReport check_source(const ModelSource& source, const validate::CheckOptions& options, const std::string& folder) {
  const nb::gil_scoped_release other_threads_run;
  if (source.is_path()) return value_of(validate::check_model(source.name(), options));
  const onnx::OnnxFile file = value_of(onnx::OnnxFile::parse(source.bytes(), source.owner(), source.name(), folder));
  return value_of(validate::check_model(file, options));
}

nb::dict check_model(nb::handle model, int opset, bool weights, const std::string& folder) {
  if (opset != 0 && (opset < kOldestOpset || opset > kNewestOpset))
    throw EngineError(fmt::format("opset={}: {} to {} are known", opset, kOldestOpset, kNewestOpset));
  const validate::CheckReport report = check_source(ModelSource(model), {opset, weights}, folder);
  nb::list findings;
  for (const Finding& f : report.findings.list()) findings.append(to_python(f));
  nb::dict out;
  out["findings"] = findings;
  out["nodes"] = report.nodes;
  out["tensors"] = report.tensors;
  out["errors"] = report.findings.count_of(Level::error);
  out["warnings"] = report.findings.count_of(Level::warning);
  out["notes"] = report.findings.count_of(Level::note);
  out["left_out"] = report.findings.left_out();
  return out;
}

nb::tuple check_rules() {
  nb::list out;
  for (const validate::Rule& rule : validate::kRules) out.append(nb::make_tuple(text(rule.name), text(name_of(rule.level)), text(rule.what)));
  return nb::tuple(out);
}

}  // namespace

void bind_check(nb::module_& module) {
  module.def("check", check_model, nb::arg("model"), nb::arg("opset"), nb::arg("weights"), nb::arg("folder"));
  module.def("check_rules", check_rules, "Every rule of check(): its name, its level, and what a finding says.");
}

}  // namespace svengine::python
