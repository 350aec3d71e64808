#include "python/tensor_out.h"

#include <nanobind/stl/vector.h>

#include "python/bindings.h"
#include "python/dtypes.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

/// The memory of a tensor, which NumPy borrows by the buffer protocol.
struct Storage {
  Tensor tensor;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Tensor& t = nb::inst_ptr<Storage>(self)->tensor;
  void* data = const_cast<std::byte*>(t.raw());  // nobody else holds it
  return PyBuffer_FillInfo(view, self, data, static_cast<Py_ssize_t>(t.byte_size()), 0, flags);
}

PyType_Slot storage_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

nb::tuple shape_of(const Tensor& t) { return nb::tuple(nb::cast(t.dims())); }

nb::object array_from(const Tensor& tensor, bool sole) {
  const nb::object dtype = numpy_dtype(tensor.type());
  Tensor own = tensor;
  if (!sole) own = value_of(tensor.aligned_copy());
  const nb::tuple shape = shape_of(own);
  return numpy().attr("ndarray")(shape, dtype, nb::cast(Storage{std::move(own)}));
}

nb::object strings_from(const Tensor& t) {
  nb::list items;
  for (const std::string& s : t.strings()) {
    const nb::object text = nb::steal(PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "surrogateescape"));
    if (!text.is_valid()) nb::raise_python_error();
    items.append(text);
  }
  const nb::object array = numpy().attr("empty")(nb::len(items), nb::arg("dtype") = "object");
  array[nb::ellipsis()] = items;
  return array.attr("reshape")(shape_of(t));
}

/// `sole`: of what holds the tensor nobody else has any.
nb::object to_python(const Tensor& t, bool sole) {
  if (!t.defined()) return nb::none();
  sole = sole && t.owner() && t.owner().use_count() == 1;
  if (t.type() == DType::string) return strings_from(t);
  if (!is_handle(t.type())) return array_from(t, sole);
  if (t.type() == DType::optional) return t.items().empty() ? nb::none() : to_python(t.items()[0], sole);
  nb::list items;
  for (const Tensor& item : t.items()) items.append(to_python(item, sole));
  if (t.type() == DType::sequence) return items;
  const nb::object keys = items[0].attr("tolist")();
  const nb::object values = nb::isinstance<nb::list>(items[1]) ? nb::object(items[1]) : items[1].attr("tolist")();
  return nb::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyDict_Type), nb::module_::import_("builtins").attr("zip")(keys, values).ptr(), nullptr));
}

}  // namespace

void bind_storage(nb::module_& module) {
  nb::class_<Storage>(module, "Storage", nb::type_slots(storage_slots), "Memory of the engine's, as the base of an array.");
}

nb::list outputs_to_python(std::vector<Tensor> outputs) {
  nb::list out;
  for (const Tensor& t : outputs) out.append(to_python(t, true));
  return out;
}

}  // namespace svengine::python
