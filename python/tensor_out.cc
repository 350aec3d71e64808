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

/// An element as Python's own number or text.
nb::object element_from(double value) { return nb::steal(PyFloat_FromDouble(value)); }
nb::object element_from(int64_t value) { return nb::steal(PyLong_FromLongLong(value)); }
nb::object element_from(const std::string& s) {
  return nb::steal(PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "surrogateescape"));
}

template <class T>
nb::list list_of(std::span<const T> elements) {
  const nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(elements.size())));
  if (!list.is_valid()) nb::raise_python_error();
  for (size_t i = 0; i < elements.size(); ++i) {
    nb::object element = element_from(elements[i]);
    if (!element.is_valid()) nb::raise_python_error();
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), element.release().ptr());
  }
  return nb::borrow<nb::list>(list);
}

/// The elements of a tensor of any shape as one list.
nb::list list_from(const Tensor& t) {
  switch (t.type()) {
    case DType::string: return list_of(t.strings());
    case DType::i64: return list_of(t.data<int64_t>());
    case DType::f64: return list_of(t.data<double>());
    case DType::f32: return list_of(t.data<float>());
    default: return nb::cast<nb::list>(array_from(t, false).attr("ravel")().attr("tolist")());
  }
}

nb::object strings_from(const Tensor& t) {
  const nb::list items = list_from(t);
  const nb::object array = numpy().attr("empty")(nb::len(items), nb::arg("dtype") = "object");
  array[nb::ellipsis()] = items;
  return array.attr("reshape")(shape_of(t));
}

/// Tensors as Python's objects. The maps of a ZipMap have one tensor of keys, which becomes objects once.
class PythonValues {
 public:
  /// `sole`: of what holds the tensor nobody else has any.
  nb::object of(const Tensor& t, bool sole) {
    if (!t.defined()) return nb::none();
    sole = sole && t.owner() && t.owner().use_count() == 1;
    if (t.type() == DType::string) return strings_from(t);
    if (!is_handle(t.type())) return array_from(t, sole);
    if (t.type() == DType::optional) return t.items().empty() ? nb::none() : of(t.items()[0], sole);
    if (t.type() == DType::map) return map_of(t.items()[0], t.items()[1]);
    nb::list items;
    for (const Tensor& item : t.items()) items.append(of(item, sole));
    return items;
  }

 private:
  nb::object map_of(const Tensor& keys, const Tensor& values) {
    if (!keys_.is_valid() || keys.raw() != keys_of_.raw() || keys.count() != keys_of_.count()) {
      keys_ = list_from(keys);
      keys_of_ = keys;
    }
    const nb::object elements = values.type() == DType::sequence ? of(values, false) : nb::object(list_from(values));
    const size_t count = std::min(nb::len(keys_), nb::len(elements));
    const nb::object out = nb::steal(PyDict_New());
    if (!out.is_valid()) nb::raise_python_error();
    for (size_t i = 0; i < count; ++i) {
      const auto at = static_cast<Py_ssize_t>(i);
      if (PyDict_SetItem(out.ptr(), PyList_GET_ITEM(keys_.ptr(), at), PyList_GET_ITEM(elements.ptr(), at))) nb::raise_python_error();
    }
    return out;
  }

  Tensor keys_of_;  // held, so that no other tensor lies in its place
  nb::object keys_;
};

}  // namespace

void bind_storage(nb::module_& module) {
  nb::class_<Storage>(module, "Storage", nb::type_slots(storage_slots), "Memory of the engine's, as the base of an array.");
}

nb::list outputs_to_python(std::vector<Tensor> outputs) {
  nb::list out;
  PythonValues values;
  for (const Tensor& t : outputs) out.append(values.of(t, true));
  return out;
}

}  // namespace svengine::python
