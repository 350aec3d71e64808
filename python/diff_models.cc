// The work behind svengine.diff(): validate/diff's, as dicts that svengine/conversion.py makes classes of.
#include "validate/diff/diff.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "importers/io/names.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/model_source.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

using validate::DiffClass, validate::DiffEntry, validate::DiffReport;

Result<validate::DiffOptions> diff_options(const std::vector<std::string>& ignored, double atol) {
  validate::DiffOptions out;
  if (!(atol >= 0)) return error("atol={}: a number from 0 is wanted", atol);
  out.atol = atol;
  for (const std::string& word : ignored) {
    bool known = false;
    for (const DiffClass kind : {DiffClass::weights, DiffClass::names, DiffClass::types, DiffClass::docs, DiffClass::metadata})
      if (word == name_of(kind)) out.ignored.push_back(kind), known = true;
    if (!known) return error("ignore: there is no '{}', but weights, names, types, docs, metadata", printable(word));
  }
  return out;
}

nb::object to_python(const std::optional<validate::WeightDifference>& w) {
  if (!w) return nb::none();
  nb::dict out;
  out["type"] = text(w->type_a);
  out["compared"] = w->compared;
  out["elements"] = w->count;
  out["different"] = w->different;
  out["over_tolerance"] = w->over;
  out["largest"] = w->largest;
  out["largest_at"] = text(w->largest_at);
  out["mean"] = w->mean;
  out["a"] = text(w->largest_a);
  out["b"] = text(w->largest_b);
  out["nan"] = nb::make_tuple(w->nans_a, w->nans_b);
  out["infinite"] = nb::make_tuple(w->infinities_a, w->infinities_b);
  return out;
}

nb::dict to_python(const DiffEntry& d) {
  nb::dict out;
  out["kind"] = text(name_of(d.kind));
  out["change"] = text(name_of(d.change));
  out["scope"] = text(d.scope);
  out["subject"] = text(d.subject);
  out["name"] = text(d.name);
  out["new_name"] = text(d.new_name);
  out["op"] = text(d.op);
  out["property"] = text(d.property);
  out["before"] = text(d.before);
  out["after"] = text(d.after);
  out["weight"] = to_python(d.weight);
  return out;
}

Result<DiffReport> diff_sources(const ModelSource& a, const ModelSource& b, const validate::DiffOptions& options) {
  const nb::gil_scoped_release other_threads_run;
  const auto open = [](const ModelSource& source) {
    return source.is_path() ? onnx::OnnxFile::open(source.name()) : onnx::OnnxFile::parse(source.bytes(), source.owner(), source.name());
  };
  SV_ASSIGN(const onnx::OnnxFile first, open(a));
  SV_ASSIGN(const onnx::OnnxFile second, open(b));
  return validate::diff_models(first, second, options);
}

nb::dict diff_given(nb::handle a, nb::handle b, const std::vector<std::string>& ignore, double atol) {
  const validate::DiffOptions options = value_of(diff_options(ignore, atol));
  const DiffReport report = value_of(diff_sources(ModelSource(a), ModelSource(b), options));
  nb::list differences;
  for (const DiffEntry& d : report.differences) differences.append(to_python(d));
  nb::dict out;
  out["differences"] = differences;
  out["nodes"] = nb::make_tuple(report.nodes_a, report.nodes_b);
  out["weights"] = nb::make_tuple(report.weights_a, report.weights_b);
  out["nodes_matched"] = report.nodes_matched;
  return out;
}

}  // namespace

void bind_diff(nb::module_& module) {
  module.def("diff", diff_given, nb::arg("a"), nb::arg("b"), nb::arg("ignore"), nb::arg("atol"));
}

}  // namespace svengine::python
