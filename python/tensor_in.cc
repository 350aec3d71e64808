#include "python/tensor_in.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <vector>

#include "python/bindings.h"
#include "python/dtypes.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

/// A view of a buffer, so that its owner cannot resize it meanwhile.
struct Buffer {
  Py_buffer view{};
  ~Buffer() {
    const nb::gil_scoped_acquire lock;
    PyBuffer_Release(&view);
  }
};

/// Elements that somebody else has laid out, with strides in bytes.
struct Strided {
  DType type = DType::undefined;
  Dims dims;
  std::vector<int64_t> strides;
  const std::byte* data = nullptr;
  std::shared_ptr<const void> owner;

  bool is_contiguous() const {
    int64_t expected = static_cast<int64_t>(size_of(type));
    for (size_t d = dims.size(); d-- > 0; expected *= dims[d])
      if (dims[d] != 1 && strides[d] != expected) return element_count(dims) == 0;
    return true;
  }
};

template <size_t bytes>
void copy_row(const std::byte* from, int64_t stride, int64_t count, std::byte* to) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * static_cast<int64_t>(bytes), from + i * stride, bytes);
}

/// Row by row of the last dimension.
Tensor packed(const Strided& array) {
  MutableTensor out = value_of(Tensor::allocate(array.type, array.dims));
  const int64_t size = static_cast<int64_t>(size_of(array.type));
  if (out.count() == 0) return out;
  const size_t rank = array.dims.size();
  const int64_t row = rank ? array.dims.back() : 1, stride = rank ? array.strides.back() : size;
  Dims at(rank, 0);
  std::byte* to = out.raw();
  for (const std::byte* const end = to + out.byte_size(); to < end; to += row * size) {
    const std::byte* from = array.data;
    for (size_t d = 0; d + 1 < rank; ++d) from += at[d] * array.strides[d];
    switch (size) {
      case 1: copy_row<1>(from, stride, row, to); break;
      case 2: copy_row<2>(from, stride, row, to); break;
      case 4: copy_row<4>(from, stride, row, to); break;
      default: copy_row<8>(from, stride, row, to);
    }
    for (size_t d = rank - (rank > 0); d-- > 0;) {
      if (++at[d] < array.dims[d]) break;
      at[d] = 0;
    }
  }
  return out;
}

/// Bits outside an element of four or two are not looked at in Python, and must say nothing here.
Tensor with_clean_bits(MutableTensor t) {
  const bool is_signed = t.type() == DType::i4 || t.type() == DType::i2;
  const int unused = t.type() == DType::i2 || t.type() == DType::u2 ? 6 : 4;
  for (size_t i = 0; i < t.byte_size(); ++i) {
    const auto shifted = static_cast<uint8_t>(static_cast<uint8_t>(t.raw()[i]) << unused);
    t.raw()[i] = static_cast<std::byte>(is_signed ? static_cast<int8_t>(shifted) >> unused : shifted >> unused);
  }
  return t;
}

Tensor tensor_of(Strided array, const std::string& what) {
  if (Status fits = check_dims(array.dims); !fits.ok()) throw EngineError(std::move(fits).error().in(what));
  Tensor t = array.is_contiguous() ? Tensor::wrap(array.type, std::move(array.dims), array.data, std::move(array.owner)) : packed(array);
  return is_narrow(t.type()) ? with_clean_bits(value_of(t.aligned_copy())) : t;
}

/// Elements of an array of objects, str or bytes.
Tensor strings_from(nb::handle value, const std::string& what) {
  const nb::object array = numpy().attr("asarray")(value, nb::arg("dtype") = "object");
  std::vector<std::string> out;
  for (nb::handle item : array.attr("ravel")().attr("tolist")()) {
    if (PyBytes_Check(item.ptr())) {
      out.emplace_back(PyBytes_AS_STRING(item.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(item.ptr())));
    } else if (PyUnicode_Check(item.ptr())) {
      const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(item.ptr(), "utf-8", "surrogateescape"));
      if (!bytes.is_valid()) nb::raise_python_error();
      out.emplace_back(PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
    } else {
      throw EngineError(fmt::format("{}: holds a {} where strings (str or bytes) are wanted", what, nb::inst_name(item).c_str()));
    }
  }
  return Tensor::of_strings(nb::cast<Dims>(array.attr("shape")), std::move(out));
}

bool is_text(nb::handle dtype) {
  const std::string kind = nb::cast<std::string>(dtype.attr("kind"));
  return kind == "U" || kind == "S" || kind == "O" || kind == "T";
}

Tensor from_numpy(nb::handle array, const std::string& what) {
  const nb::object dtype = array.attr("dtype");
  Strided out;
  out.type = dtype_from_numpy(dtype);
  nb::object bytes = nb::borrow(array);
  if (out.type == DType::undefined) {
    if (is_text(dtype)) return strings_from(array, what);
    if (!nb::cast<bool>(dtype.attr("isnative"))) return from_numpy(array.attr("astype")(dtype.attr("newbyteorder")("=")), what);
    throw EngineError(fmt::format("{}: the engine has no elements of type {}", what, nb::str(dtype).c_str()));
  }
  // Types that NumPy has from elsewhere cannot be lent as they are.
  if (nb::cast<int>(dtype.attr("num")) >= 256) bytes = array.attr("view")(size_of(out.type) == 1 ? "uint8" : "uint16");
  auto buffer = std::make_shared<Buffer>();
  if (PyObject_GetBuffer(bytes.ptr(), &buffer->view, PyBUF_STRIDES) != 0) nb::raise_python_error();
  const Py_buffer& view = buffer->view;
  out.dims.assign(view.shape, view.shape + view.ndim);
  out.strides.assign(view.strides, view.strides + view.ndim);
  out.data = static_cast<const std::byte*>(view.buf);
  out.owner = std::move(buffer);
  return tensor_of(std::move(out), what);
}

Tensor from_dlpack(nb::handle value, const std::string& what) {
  using Array = nb::ndarray<nb::ro, nb::device::cpu>;
  Array array;
  if (!nb::try_cast<Array>(value, array)) {
    if (PyErr_Occurred()) PyErr_Clear();
    throw EngineError(fmt::format("{}: this {} cannot be read as an array on the CPU (DLPack)", what, nb::inst_name(value).c_str()));
  }
  Strided out;
  out.type = dtype_from_dlpack(array.dtype());
  if (out.type == DType::undefined)
    throw EngineError(fmt::format("{}: the engine has no elements of DLPack's type {} with {} bits", what, array.dtype().code, array.dtype().bits));
  for (size_t d = 0; d < array.ndim(); ++d) {
    out.dims.push_back(static_cast<int64_t>(array.shape(d)));
    out.strides.push_back(array.stride(d) * static_cast<int64_t>(size_of(out.type)));
  }
  out.data = static_cast<const std::byte*>(array.data());
  out.owner = std::shared_ptr<const void>(new Array(std::move(array)), [](const void* p) {
    const nb::gil_scoped_acquire lock;  // any thread may let it go
    delete static_cast<const Array*>(p);
  });
  return tensor_of(std::move(out), what);
}

bool is_numpy(nb::handle value) {
  static const nb::object* const type = new nb::object(numpy().attr("ndarray"));
  return nb::isinstance(value, *type);
}

bool is_array(nb::handle value) { return is_numpy(value) || nb::hasattr(value, "__dlpack__") || nb::hasattr(value, "__array__"); }

/// Numbers and lists of numbers have no type of their own. Reals do not become integers by themselves.
nb::object array_of_type(nb::handle value, DType type) {
  const char* casting = is_integer(type) || type == DType::boolean ? "same_kind" : "unsafe";
  return numpy().attr("asarray")(value).attr("astype")(numpy_dtype(type), nb::arg("casting") = casting);
}

Tensor items_from(nb::handle value, const Type& type, const std::string& what) {
  const Type unknown;
  const Type& element = type.element ? *type.element : unknown;
  std::vector<Tensor> items;
  for (nb::handle item : value) items.push_back(tensor_from_python(item, element, fmt::format("{}[{}]", what, items.size())));
  return Tensor::of_items(DType::sequence, std::move(items));
}

Tensor map_from(nb::handle value, const Type& type, const std::string& what) {
  if (!PyDict_Check(value.ptr()))
    throw EngineError(fmt::format("{}: is a {}; a map is a dict", what, nb::inst_name(value).c_str()));
  const nb::dict dict = nb::borrow<nb::dict>(value);
  Type keys, values = type.element ? *type.element : Type();
  keys.dtype = type.key;
  const nb::object value_list = nb::list(dict.values());
  if (is_handle(values.dtype) && values.dtype != DType::string) {
    Type list;
    list.dtype = DType::sequence;
    list.element = type.element;
    return Tensor::of_items(DType::map, {tensor_from_python(nb::list(dict.keys()), keys, what + ", keys"), items_from(value_list, list, what)});
  }
  return Tensor::of_items(DType::map,
                          {tensor_from_python(nb::list(dict.keys()), keys, what + ", keys"), tensor_from_python(value_list, values, what)});
}

}  // namespace

Tensor tensor_from_array(nb::handle value, const std::string& what) {
  if (is_numpy(value)) return from_numpy(value, what);
  if (nb::hasattr(value, "__dlpack__")) return from_dlpack(value, what);
  return from_numpy(numpy().attr("asarray")(value), what);
}

Tensor tensor_from_python(nb::handle value, const Type& type, const std::string& what) {
  switch (type.dtype) {
    case DType::optional:
      if (value.is_none()) return Tensor::of_items(DType::optional, {});
      return Tensor::of_items(DType::optional, {tensor_from_python(value, type.element ? *type.element : Type(), what)});
    case DType::sequence:
      if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr()))
        throw EngineError(fmt::format("{}: is a {}; a sequence is a list or a tuple", what, nb::inst_name(value).c_str()));
      return items_from(value, type, what);
    case DType::map: return map_from(value, type, what);
    case DType::string: return strings_from(value, what);
    default: break;
  }
  if (value.is_none()) throw EngineError(fmt::format("{}: is None, and needs a tensor", what));
  if (type.dtype == DType::undefined || is_array(value)) return tensor_from_array(value, what);
  return from_numpy(array_of_type(value, type.dtype), what);
}

}  // namespace svengine::python
