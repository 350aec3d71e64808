// The module svengine._engine, which svengine/__init__.py makes a package of.
#include <nanobind/stl/filesystem.h>

#include "engine/kernels/kernel_table.h"
#include "python/bindings.h"
#include "runtime/plugin.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

struct ErrorTypes {
  PyObject *error = nullptr, *unimplemented = nullptr;
};

/// A message may hold what is not UTF-8, such as a file's name; it is shown as \xNN.
void translate(const std::exception_ptr& thrown, void* error_types) {
  try {
    std::rethrow_exception(thrown);
  } catch (const EngineError& e) {
    const std::string text = e.what();
    const nb::object message = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
    const auto* types = static_cast<const ErrorTypes*>(error_types);
    if (message.is_valid()) PyErr_SetObject(e.is_limit ? types->unimplemented : types->error, message.ptr());
  }
}

void bind_error(nb::module_& module) {
  static ErrorTypes types;  // which keep their references
  types.error = PyErr_NewExceptionWithDoc("svengine.Error", "What the engine says of a model, a file, an input or an option that it cannot take.",
                                          PyExc_RuntimeError, nullptr);
  if (!types.error) nb::raise_python_error();
  types.unimplemented = PyErr_NewExceptionWithDoc(
      "svengine.UnimplementedError", "The model may be right: the engine lacks an operator, a type, or a form of either.",
      nb::make_tuple(nb::handle(types.error), nb::handle(PyExc_NotImplementedError)).ptr(), nullptr);
  if (!types.unimplemented) nb::raise_python_error();
  module.attr("Error") = nb::handle(types.error);
  module.attr("UnimplementedError") = nb::handle(types.unimplemented);
  nb::register_exception_translator(translate, &types);
}

nb::tuple kernel_sets() {
  nb::list names;
  for (const kernels::KernelTable* set : kernels::available_kernel_sets()) names.append(set->name);
  return nb::tuple(names);
}

void load(const std::filesystem::path& path) { check(load_plugin(path.string())); }

}  // namespace
}  // namespace svengine::python

NB_MODULE(_engine, module) {
  using namespace svengine;
  nb::set_leak_warnings(false);  // arrays that a program holds to its end are no leaks
  module.attr("__version__") = SVENGINE_VERSION;
  python::bind_error(module);
  module.def("kernel_sets", python::kernel_sets, "The kernel sets that this processor can run, the best one first. 'reference' is there, too.");
  module.def("load_plugin", python::load, nb::arg("path"),
             "Loads a shared library of operators (svengine/operators.h) for the whole process, whose rights its code gets.");
  python::bind_storage(module);
  python::bind_port(module);
  python::bind_session(module);
  python::bind_compare(module);
  python::bind_compare_models(module);
  python::bind_check(module);
  python::bind_diff(module);
  python::bind_convert(module);
  python::bind_quantize(module);
  python::bind_reduce(module);
  python::bind_random_inputs(module);
  python::bind_not_finite(module);
  python::bind_train(module);
}
