#include "python/model_source.h"

#include "python/bindings.h"

namespace nb = nanobind;

namespace svengine::python {

std::string path_from_python(nb::handle path) {
  PyObject* bytes = nullptr;
  if (!PyUnicode_FSConverter(path.ptr(), &bytes)) nb::raise_python_error();
  const nb::bytes text = nb::steal<nb::bytes>(bytes);
  return std::string(text.c_str(), text.size());
}

void ModelSource::take(const nb::bytes& bytes) {
  bytes_ = {reinterpret_cast<const std::byte*>(bytes.c_str()), bytes.size()};
  owner_ = std::shared_ptr<const void>(nb::object(bytes).release().ptr(), [](const void* p) {
    const nb::gil_scoped_acquire lock;  // any thread may let the model go
    Py_DECREF(static_cast<PyObject*>(const_cast<void*>(p)));
  });
}

ModelSource::ModelSource(nb::handle model) {
  if (PyBytes_Check(model.ptr())) {
    take(nb::borrow<nb::bytes>(model));
  } else if (PyUnicode_Check(model.ptr()) || nb::hasattr(model, "__fspath__")) {
    is_path_ = true;
    name_ = path_from_python(model);
  } else if (nb::hasattr(model, "SerializeToString")) {
    take(nb::cast<nb::bytes>(model.attr("SerializeToString")()));
  } else if (PyObject_CheckBuffer(model.ptr())) {
    PyObject* copy = PyBytes_FromObject(model.ptr());
    if (!copy) nb::raise_python_error();
    take(nb::steal<nb::bytes>(copy));
  } else {
    throw nb::type_error(fmt::format("a model is a path, bytes or an onnx.ModelProto, not a {}", nb::inst_name(model).c_str()).c_str());
  }
}

Result<Model> ModelSource::read(const ImportOptions& options) const {
  return is_path_ ? import_onnx(name_, options) : import_onnx(bytes_, owner_, name_, options);
}

}  // namespace svengine::python
