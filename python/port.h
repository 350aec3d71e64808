// An input or output as Python sees it.
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "runtime/session.h"

namespace svengine::python {

/// Immutable.
struct Port {
  std::string name;
  Type type;
};

nanobind::tuple ports_of(const std::vector<Session::Port>& ports);
/// "float32", "sequence(float32)", "map(int64, float32)": of what a sequence holds no shape is said.
std::string dtype_text(const Type& type);

}  // namespace svengine::python
