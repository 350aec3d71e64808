// Keyword arguments that a function of the package hands on in a dict.
#pragma once
#include <nanobind/nanobind.h>

#include <fmt/format.h>

namespace svengine::python {

/// Of which all are there. Those of another type than the wanted one are a TypeError that names them.
class Arguments {
 public:
  explicit Arguments(const nanobind::dict& values) : values_(values) {}
  template <class T>
  T get(const char* name) const {
    T out;
    if (!nanobind::try_cast<T>(values_[name], out))
      throw nanobind::type_error(fmt::format("{}={} is not of the type that is wanted", name, nanobind::repr(values_[name]).c_str()).c_str());
    return out;
  }
  nanobind::object operator[](const char* name) const { return values_[name]; }

 private:
  const nanobind::dict& values_;
};

}  // namespace svengine::python
