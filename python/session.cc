// svengine.Session: a model ready to run.
#include "runtime/session.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <mutex>
#include <optional>

#include "engine/kernels/kernel_table.h"
#include "importers/io/names.h"
#include "importers/onnx/import.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/limits.h"
#include "python/model_source.h"
#include "python/options.h"
#include "python/port.h"
#include "python/tensor_in.h"
#include "python/tensor_out.h"
#include "runtime/weight_cache.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

/// Any thread may run it: runs wait for one another. The lock is never waited for with the interpreter's held.
class PySession {
 public:
  PySession(nb::handle model, const SessionArguments& arguments, bool strict, const std::string& folder, const Limits& limits) : limits_(limits) {
    check(limits.check());
    const SessionOptions options = value_of(arguments.resolve());
    const ModelSource source(model);
    ImportOptions import;
    import.strict = strict;
    import.external_folder = folder;
    const nb::gil_scoped_release other_threads_run;
    const LimitGuard guard(limits_);
    Model read = value_of(source.read(import));
    warnings_ = read.warnings;
    name_ = source.name();
    Result<std::unique_ptr<Session>> made = Session::create(std::move(read.graph), options);
    if (!made.ok()) throw EngineError(std::move(made).error().in(name_));
    session_ = std::move(made).value();
  }

  nb::list run(const nb::list& values, const Limits& limits) {
    const std::vector<Session::Port>& ports = session_->inputs();
    if (nb::len(values) != ports.size())
      throw EngineError(fmt::format("{}: got {} inputs, the model has {}", name_, nb::len(values), ports.size()));
    std::vector<Tensor> inputs, outputs;
    for (size_t i = 0; i < ports.size(); ++i)
      inputs.push_back(tensor_from_python(values[i], ports[i].type, fmt::format("{}: input '{}'", name_, ports[i].name)));
    {
      const nb::gil_scoped_release other_threads_run;
      const LimitGuard guard(limits);
      const std::lock_guard one_run_at_a_time(running_);
      Result<std::vector<Tensor>> made = session_->run(inputs);
      if (!made.ok()) throw EngineError(std::move(made).error().in(name_));
      outputs = std::move(made).value();
    }
    return outputs_to_python(std::move(outputs));
  }

  /// In the order of the model's inputs. An optional that is not named is None.
  nb::list ordered(const nb::dict& named) const {
    nb::list values;
    size_t taken = 0;
    for (const Session::Port& port : session_->inputs()) {
      const nb::str name(port.name.c_str(), port.name.size());
      if (named.contains(name)) {
        values.append(named[name]);
        ++taken;
      } else if (port.type.dtype == DType::optional) {
        values.append(nb::none());
      } else {
        throw EngineError(fmt::format("{}: input '{}' is missing; the model has {}", name_, port.name, input_names()));
      }
    }
    if (taken == nb::len(named)) return values;
    for (const auto& [key, value] : named)
      if (!is_input(key)) throw EngineError(fmt::format("{}: there is no input {}; the model has {}", name_, nb::repr(key).c_str(), input_names()));
    return values;
  }

  /// A dict for a dict, a list for a list.
  nb::object run_any(nb::handle inputs, std::optional<int64_t> memory_limit, std::optional<double> time_limit) {
    const Limits given{memory_limit, time_limit};
    check(given.check());
    const Limits limits = given.or_else(limits_);
    if (PyList_Check(inputs.ptr()) || PyTuple_Check(inputs.ptr())) return run(nb::list(nb::borrow(inputs)), limits);
    if (!PyDict_Check(inputs.ptr()) && nb::hasattr(inputs, "keys"))
      return run_any(nb::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyDict_Type), inputs.ptr(), nullptr)), memory_limit,
                     time_limit);
    if (!PyDict_Check(inputs.ptr()))
      throw nb::type_error(fmt::format("inputs are a dict of names or a list, not a {}", nb::inst_name(inputs).c_str()).c_str());
    const nb::list made = run(ordered(nb::borrow<nb::dict>(inputs)), limits);
    nb::dict out;
    for (size_t i = 0; i < session_->outputs().size(); ++i) {
      const std::string& name = session_->outputs()[i].name;
      out[nb::str(name.c_str(), name.size())] = made[i];
    }
    return out;
  }

  const Session& session() const { return *session_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::string& name() const { return name_; }

 private:
  std::string input_names() const {
    std::string out;
    for (const Session::Port& p : session_->inputs()) out += (out.empty() ? "'" : ", '") + p.name + "'";
    return out.empty() ? "none" : out;
  }
  bool is_input(nb::handle key) const {
    for (const Session::Port& p : session_->inputs())
      if (nb::str(p.name.c_str(), p.name.size()).equal(key)) return true;
    return false;
  }

  const Limits limits_;
  std::unique_ptr<Session> session_;
  std::mutex running_;
  std::vector<std::string> warnings_;
  std::string name_;
};

}  // namespace

void bind_session(nb::module_& module) {
  nb::class_<PySession>(module, "Session", "A model ready to run. Threads may share one: its runs wait for one another.")
      .def(
          "__init__",
          [](PySession* self, nb::handle model, std::optional<int> threads, const std::string& kernels, bool optimize, bool exact_convolution,
             const std::string& topology, bool flush_denormals, const std::string& cache, bool strict, const std::string& folder,
             std::optional<int64_t> memory_limit, std::optional<double> time_limit, std::optional<uint64_t> seed) {
            new (self) PySession(model, {threads, kernels, topology, cache, optimize, exact_convolution, flush_denormals, seed}, strict, folder,
                                 {memory_limit, time_limit});
          },
          nb::arg("model"), nb::kw_only(), nb::arg("threads") = nb::none(), nb::arg("kernels") = "", nb::arg("optimize") = true,
          nb::arg("exact_convolution") = false, nb::arg("topology") = "", nb::arg("flush_denormals") = true, nb::arg("cache") = "",
          nb::arg("strict") = false, nb::arg("folder") = "", nb::arg("memory_limit") = nb::none(), nb::arg("time_limit") = nb::none(),
          nb::arg("seed") = nb::none(), "Loads a model: a path, bytes or an onnx.ModelProto. PYTHON.md has the options.")
      .def("run", &PySession::run_any, nb::arg("inputs"), nb::kw_only(), nb::arg("memory_limit") = nb::none(), nb::arg("time_limit") = nb::none(),
           "Runs on a dict of inputs by name, and gives a dict of outputs; or on a list in the order of `inputs`, and gives a list. Limits are in "
           "bytes and seconds; those of the session stand where none are given.")
      .def_prop_ro("inputs", [](const PySession& s) { return ports_of(s.session().inputs()); })
      .def_prop_ro("outputs", [](const PySession& s) { return ports_of(s.session().outputs()); })
      .def_prop_ro("warnings", [](const PySession& s) { return texts(s.warnings()); })
      .def_prop_ro("kernels", [](const PySession& s) { return std::string(s.session().kernels().name); })
      .def_prop_ro("threads", [](const PySession& s) { return s.session().team().threads(); })
      .def_prop_ro("cache_problem", [](const PySession& s) { return s.session().cache_report().problem; })
      .def("__repr__", [](const PySession& s) { return fmt::format("<svengine.Session of {}>", printable(s.name())); });
}

}  // namespace svengine::python
