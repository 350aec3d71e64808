// The work behind svengine.compare(): validate/compare's, as dicts that svengine/validation.py makes classes of.
#include "validate/compare/compare_models.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <map>

#include "python/bindings.h"
#include "python/convert.h"
#include "python/model_inputs.h"
#include "python/model_source.h"
#include "python/options.h"
#include "python/tensor_in.h"
#include "validate/compare/open_reference.h"
#include "validate/compare/page.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

using validate::ComparedOutput, validate::ComparedValue, validate::CompareReport, validate::Difference;

/// Arrays by the names of values: what another program has computed.
class GivenValues final : public validate::Reference {
 public:
  explicit GivenValues(const nb::dict& arrays) {
    for (const auto& [key, value] : arrays) {
      const std::string name = nb::str(key).c_str();
      values_.emplace(name, tensor_from_array(value, "against['" + name + "']"));
    }
  }
  bool has(const std::string& name) const override { return values_.count(name) > 0; }
  void expect(const std::string&) override {}
  Result<Tensor> value(const std::string& name) override {
    const Tensor& t = values_.at(name);
    if (t.is_aligned()) return t;
    SV_ASSIGN(Tensor copy, t.aligned_copy());
    return copy;
  }
  void release(const std::string&) override {}
  Status finish() override { return {}; }

 private:
  std::map<std::string, Tensor> values_;
};

nb::dict to_python(const Difference& d) {
  nb::list worst;
  for (const Difference::Element& e : d.elements) {
    nb::dict row;
    row["index"] = position(d.dims, e.index);
    row["got"] = e.got;
    row["expected"] = e.expected;
    row["error"] = e.error;
    worst.append(row);
  }
  nb::dict histogram;
  for (int bin = 0; bin < Difference::kBins; ++bin) histogram[text(Difference::bin_title(bin))] = d.bins[static_cast<size_t>(bin)];
  nb::dict out;
  out["mismatch"] = text(d.mismatch);
  out["passed"] = d.passed();
  out["count"] = d.count;
  out["over"] = d.over;
  out["worst"] = d.worst;
  out["mean"] = d.mean;
  out["relative"] = d.relative();
  out["nans"] = nb::make_tuple(d.got_nans, d.expected_nans);
  out["infinities"] = nb::make_tuple(d.got_infinities, d.expected_infinities);
  out["elements"] = worst;
  out["histogram"] = histogram;
  return out;
}

nb::tuple to_python(const validate::NodeName& node) { return nb::make_tuple(text(node.name), text(node.op)); }

nb::tuple to_python(const std::vector<validate::NodeName>& nodes) {
  nb::list out;
  for (const validate::NodeName& n : nodes) out.append(to_python(n));
  return nb::tuple(out);
}

nb::dict to_python(const ComparedValue& v) {
  nb::dict out;
  out["value"] = text(v.value);
  out["node"] = to_python(v.node);
  out["fused"] = to_python(v.fused);
  out["local"] = v.has_local ? nb::object(to_python(v.local)) : nb::none();
  out["accumulated"] = to_python(v.accumulated);
  out["problem"] = text(v.problem);
  out["guilty"] = v.guilty;
  return out;
}

nb::object to_python(const std::optional<validate::Guilt>& guilt) {
  if (!guilt) return nb::none();
  nb::dict out;
  out["node"] = guilt->node ? nb::object(to_python(*guilt->node)) : nb::none();
  out["value"] = text(guilt->value);
  out["difference"] = to_python(guilt->difference);
  out["problem"] = text(guilt->problem);
  out["between"] = to_python(guilt->between);
  return out;
}

nb::dict to_python(const CompareReport& report) {
  nb::list values, outputs;
  for (const ComparedValue& v : report.values) values.append(to_python(v));
  for (const ComparedOutput& o : report.outputs) {
    nb::dict row;
    row["name"] = text(o.name);
    row["accumulated"] = o.compared ? nb::object(to_python(o.accumulated)) : nb::none();
    row["whole"] = o.whole ? nb::object(to_python(*o.whole)) : nb::none();
    outputs.append(row);
  }
  nb::dict out;
  out["passed"] = report.passed();
  out["values"] = values;
  out["outputs"] = outputs;
  out["first"] = to_python(report.first);
  out["guilty"] = report.guilty;
  out["steps"] = report.steps;
  out["without_reference"] = report.without_reference;
  return out;
}

nb::dict compare_sources(nb::handle model, nb::handle inputs, nb::handle against, const std::string& html, std::optional<double> rtol,
                         std::optional<double> atol, std::optional<int> threads, const std::string& kernels, bool optimize, bool exact_convolution,
                         bool whole) {
  SessionArguments arguments;
  arguments.threads = threads;
  arguments.kernels = kernels;
  arguments.optimize = optimize;
  arguments.exact_convolution = exact_convolution;
  SessionOptions how = value_of(arguments.resolve());
  check(choose_kernels(how));
  const ModelSource source(model);
  const Model read = value_of(source.read({}));
  const std::vector<Tensor> given = model_inputs(read.graph, inputs, source.name());
  validate::OpenedReference other;
  if (PyDict_Check(against.ptr())) other.reference = std::make_unique<GivenValues>(nb::borrow<nb::dict>(against));
  else other = value_of(validate::open_reference(path_from_python(against), read.graph, given, how));
  std::optional<CompareReport> report;
  std::string page;
  {
    const nb::gil_scoped_release other_threads_run;
    Result<CompareReport> made = validate::compare_with(read.graph, given, *other.reference, {how, rtol, atol, whole});
    if (!made.ok()) throw EngineError(std::move(made).error().in(source.name()));
    report = std::move(made).value();
    if (!html.empty()) page = validate::page_of(*report, html);
  }
  nb::dict out = to_python(*report);
  out["page"] = text(page);
  return out;
}

}  // namespace

void bind_compare_models(nb::module_& module) {
  module.def("compare", compare_sources, nb::arg("model"), nb::arg("inputs"), nb::arg("against"), nb::arg("html"), nb::arg("rtol").none(),
             nb::arg("atol").none(), nb::arg("threads").none(), nb::arg("kernels"), nb::arg("optimize"), nb::arg("exact_convolution"),
             nb::arg("whole"));
}

}  // namespace svengine::python
