#include "python/port.h"

#include "python/bindings.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

/// A number, a name or None for each dimension; None where not even the rank is known.
nb::object shape_of(const Port& port) {
  const Shape& shape = port.type.shape;
  if (!shape.has_rank()) return nb::none();
  nb::list dims;
  for (const Dim& d : shape.dims()) {
    if (d.is_static()) dims.append(d.value());
    else if (d.is_symbolic()) dims.append(nb::str(d.symbol().c_str(), d.symbol().size()));
    else dims.append(nb::none());
  }
  return nb::tuple(dims);
}

nb::str to_python(const std::string& text) { return nb::str(text.c_str(), text.size()); }

}  // namespace

std::string dtype_text(const Type& type) {
  if (!is_container(type.dtype)) return std::string(name_of(type.dtype));
  const std::string element = type.element ? dtype_text(*type.element) : "?";
  return type.dtype == DType::map ? fmt::format("map({}, {})", name_of(type.key), element) : fmt::format("{}({})", name_of(type.dtype), element);
}

nb::tuple ports_of(const std::vector<Session::Port>& ports) {
  nb::list out;
  for (const Session::Port& p : ports) out.append(nb::cast(Port{p.name, p.type}));
  return nb::tuple(out);
}

void bind_port(nb::module_& module) {
  nb::class_<Port>(module, "Port", "An input or output, as the model declares it.")
      .def_prop_ro("name", [](const Port& p) { return to_python(p.name); })
      .def_prop_ro(
          "dtype", [](const Port& p) { return to_python(dtype_text(p.type)); },
          "NumPy's or ml_dtypes' name of the elements' type; \"sequence(float32)\", \"optional(float32)\", \"map(int64, float32)\".")
      .def_prop_ro(
          "shape", shape_of,
          "A tuple with a number for each dimension, a name (equal names are equal sizes), or None for one that is unknown; None where the rank is.")
      .def("__repr__", [](const Port& p) {
        return to_python(fmt::format("Port({}, {}{})", nb::repr(to_python(p.name)).c_str(), dtype_text(p.type), nb::repr(shape_of(p)).c_str()));
      });
}

}  // namespace svengine::python
