// The work behind svengine.find_not_finite(): validate/finite's, as dicts that svengine/validation.py makes classes of.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "python/bindings.h"
#include "python/convert.h"
#include "python/model_inputs.h"
#include "python/model_source.h"
#include "python/options.h"
#include "validate/finite/find_not_finite.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

using validate::CheckedValue, validate::FiniteReport, validate::NotFinite;

nb::dict to_python(const CheckedValue& value) {
  const validate::Statistics& s = value.statistics;
  nb::dict out;
  out["name"] = text(value.name);
  out["type"] = text(value.type);
  out["constant"] = value.constant;
  out["nans"] = s.nans;
  out["infinities"] = s.infinities;
  const bool any = s.finite > 0;
  out["min"] = any ? nb::object(nb::float_(s.min)) : nb::none();
  out["max"] = any ? nb::object(nb::float_(s.max)) : nb::none();
  return out;
}

nb::list to_python(const std::vector<CheckedValue>& values) {
  nb::list out;
  for (const CheckedValue& v : values) out.append(to_python(v));
  return out;
}

nb::dict to_python(const NotFinite& found) {
  nb::dict out;
  out["node"] = nb::make_tuple(text(found.node), text(found.op));
  out["value"] = to_python(found.value);
  out["inputs"] = to_python(found.inputs);
  out["from_finite"] = found.from_finite;
  return out;
}

nb::dict find_not_finite(nb::handle model, nb::handle inputs, std::optional<int> threads, const std::string& kernels) {
  SessionArguments arguments;
  arguments.threads = threads;
  arguments.kernels = kernels;
  const SessionOptions options = value_of(arguments.resolve());
  const ModelSource source(model);
  Model read = value_of(source.read({}));
  const std::vector<Tensor> given = model_inputs(read.graph, inputs, source.name());
  FiniteReport report;
  {
    const nb::gil_scoped_release other_threads_run;
    Result<FiniteReport> made = validate::find_not_finite(std::move(read.graph), given, options);
    if (!made.ok()) throw EngineError(std::move(made).error().in(source.name()));
    report = std::move(made).value();
  }
  nb::list first;
  for (const NotFinite& found : report.first) first.append(to_python(found));
  nb::dict out;
  out["checked"] = report.checked;
  out["not_finite"] = report.not_finite;
  out["inputs"] = to_python(report.inputs);
  out["first"] = first;
  return out;
}

}  // namespace

void bind_not_finite(nb::module_& module) {
  module.def("find_not_finite", find_not_finite, nb::arg("model"), nb::arg("inputs"), nb::arg("threads").none(), nb::arg("kernels"));
}

}  // namespace svengine::python
