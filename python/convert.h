// Texts and positions as Python's.
#pragma once
#include <nanobind/nanobind.h>

#include <string_view>
#include <vector>

#include "engine/base/shape.h"

namespace svengine::python {

/// What is not UTF-8 is shown as \xNN.
inline nanobind::object text(std::string_view utf8) {
  PyObject* made = PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "backslashreplace");
  if (!made) nanobind::raise_python_error();
  return nanobind::steal(made);
}

inline nanobind::tuple texts(const std::vector<std::string>& lines) {
  nanobind::list out;
  for (const std::string& line : lines) out.append(text(line));
  return nanobind::tuple(out);
}

/// The place of element `index` in an array of these dimensions; None for -1.
inline nanobind::object position(const Dims& dims, int64_t index) {
  if (index < 0) return nanobind::none();
  std::vector<int64_t> at(dims.size());
  for (size_t d = dims.size(); d-- > 0; index /= dims[d]) at[d] = index % dims[d];
  nanobind::list out;
  for (const int64_t i : at) out.append(i);
  return nanobind::tuple(out);
}

}  // namespace svengine::python
