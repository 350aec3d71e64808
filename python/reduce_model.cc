// The work behind svengine.reduce(): validate/reduce's, as a dict that svengine/conversion.py makes a class of.
#include "validate/reduce/reduce.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "engine/kernels/kernel_table.h"
#include "importers/onnx/import.h"
#include "python/arguments.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/model_inputs.h"
#include "python/options.h"
#include "validate/compare/open_reference.h"
#include "validate/inputs/random_inputs.h"
#include "validate/reduce/command_check.h"
#include "validate/reduce/reference.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

using validate::Candidate, validate::Recording, validate::ReduceReport;

/// What a reduction asks of Python. Exceptions of Python end it, and are raised then.
class ReduceConversation {
 public:
  ReduceConversation(nb::object check, nb::object progress) : check_(std::move(check)), progress_(std::move(progress)) {}

  bool stop() {
    const nb::gil_scoped_acquire lock;
    if (!problem_ && PyErr_CheckSignals() != 0) problem_ = std::make_unique<nb::python_error>();
    return problem_ != nullptr;
  }
  /// A function of the candidate's path, which is true while the fault is there.
  Result<bool> has_fault(const Candidate& candidate) {
    const nb::gil_scoped_acquire lock;
    try {
      const bool faulty = nb::cast<bool>(nb::bool_(check_(text(candidate.model))));
      if (std::exchange(is_first_, false) && !faulty) return error("check(path) is not true of the whole model; it must be while the fault is there");
      return faulty;
    } catch (nb::python_error& e) {
      problem_ = std::make_unique<nb::python_error>(std::move(e));
      return error("check(path) raised an exception");
    }
  }
  void progress(const validate::ReduceProgress& p) {
    const nb::gil_scoped_acquire lock;
    if (progress_.is_none() || problem_) return;
    try {
      progress_(text(p.stage), p.nodes, p.checks, p.seconds);
    } catch (nb::python_error& e) {
      problem_ = std::make_unique<nb::python_error>(std::move(e));
    }
  }
  void raise_problem() {
    if (problem_) throw nb::python_error(std::move(*problem_));
  }

 private:
  nb::object check_, progress_;
  bool is_first_ = true;
  std::unique_ptr<nb::python_error> problem_;
};

/// Of what the fault is a difference from: the model itself, without optimisation, where it is not another model.
struct FaultReference {
  std::string against;  // empty: a check says what the fault is
  bool is_model = false;
  SessionOptions session;
};

FaultReference reference_of(const std::string& against, const SessionOptions& session) {
  FaultReference out{against, false, session};
  out.session.optimize = false;
  if (const kernels::KernelTable* set = kernels::find_kernel_set(against)) out.session.kernels = set;
  else out.is_model = !against.empty() && against != validate::kNoOptimize;
  return out;
}

/// What the values should be, or without a reference what they are.
Recording record_values(const std::string& path, const onnx::OnnxFile& file, nb::handle inputs, const FaultReference& reference,
                        const SessionOptions& session, const std::string& folder) {
  std::vector<std::string> names;
  std::vector<Tensor> given;
  {
    const Model model = value_of(import_onnx(path));
    for (const Value* v : model.graph.inputs()) names.push_back(v->name());
    given = inputs.is_none() ? value_of(validate::random_inputs(model.graph, {}, 1)) : model_inputs(model.graph, inputs, path);
  }
  const nb::gil_scoped_release other_threads_run;
  if (reference.is_model) return value_of(validate::record_other(file, names, given, reference.against, session, folder));
  return value_of(Recording::make(path, validate::computed_names(file.model()), given, reference.session, folder));
}

nb::dict to_python(const ReduceReport& report) {
  nb::dict out;
  out["nodes_before"] = report.nodes_before;
  out["nodes_after"] = report.nodes_after;
  out["complete"] = report.complete;
  out["checks"] = report.checks;
  out["seconds"] = report.seconds;
  out["operators"] = texts(report.operators);
  out["inputs"] = texts(report.inputs);
  out["outputs"] = texts(report.outputs);
  out["inputs_without_data"] = texts(report.without_data);
  out["frozen_inputs"] = report.frozen_inputs;
  out["dropped_attributes"] = report.dropped_attributes;
  out["dropped_inputs"] = report.dropped_inputs;
  out["dropped_outputs"] = report.dropped_outputs;
  out["exact"] = report.exact;
  out["inlined_bodies"] = report.shrunk.inlined_bodies;
  out["bypassed_nodes"] = report.shrunk.bypassed_nodes;
  out["shrunk_sizes"] = report.shrunk.shrunk_sizes;
  out["shrunk_weights"] = report.shrunk.shrunk_weights;
  out["zeroed_weights"] = report.shrunk.zeroed_weights;
  return out;
}

/// `scratch` has the empty folders values and candidate.
nb::dict reduce_file(const std::string& path, const std::string& output, const std::string& scratch, const nb::dict& values) {
  const Arguments a(values);
  SessionArguments how;
  how.threads = a.get<std::optional<int>>("threads");
  how.kernels = a.get<std::string>("kernels");
  const SessionOptions session = value_of(how.resolve());
  const FaultReference reference = reference_of(a.get<std::string>("against"), session);
  onnx::OnnxFile file = value_of(onnx::OnnxFile::open(path));
  Recording recording;
  try {
    recording = record_values(path, file, a["inputs"], reference, session, scratch + "/values");
  } catch (const EngineError&) {  // a check does without data, and with cuts only where the file says types
    if (!reference.against.empty() || !a["inputs"].is_none()) throw;
  }

  ReduceConversation conversation(a["check"], a["on_progress"]);
  validate::ReduceOptions options;
  options.scratch = scratch + "/candidate";
  options.max_seconds = a.get<double>("max_seconds");
  options.write_data = reference.against.empty();
  options.session = reference.session;
  options.exact = a.get<bool>("exact") || reference.is_model;  // which says nothing of models that compute something else
  options.freeze = a.get<bool>("freeze");
  options.stop = [&] { return conversation.stop(); };
  options.progress = [&](const validate::ReduceProgress& p) { conversation.progress(p); };
  const validate::FaultCheck check = [&]() -> validate::FaultCheck {
    const validate::Tolerance tolerance{a.get<double>("rtol"), a.get<std::optional<double>>("atol")};
    if (reference.is_model) return validate::differs_from_recording(recording, session, tolerance);
    if (!reference.against.empty()) return validate::differs_between(session, reference.session, tolerance);
    if (PyUnicode_Check(a["check"].ptr()))
      return validate::fault_by_command({a.get<std::string>("check"), a.get<double>("timeout"), options.stop});
    return [&](const Candidate& candidate) { return conversation.has_fault(candidate); };
  }();
  Result<ReduceReport> report = [&] {
    const nb::gil_scoped_release other_threads_run;
    return validate::reduce_model(file, recording, check, options);
  }();
  conversation.raise_problem();
  if (!report.ok()) throw EngineError(std::move(report).error().in(path));
  python::check(validate::save_reduced(file, *report, output));
  return to_python(*report);
}

}  // namespace

void bind_reduce(nb::module_& module) {
  module.def("reduce", reduce_file, nb::arg("path"), nb::arg("output"), nb::arg("scratch"), nb::arg("options"));
}

}  // namespace svengine::python
