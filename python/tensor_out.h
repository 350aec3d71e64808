// Tensors as what Python knows.
#pragma once
#include <nanobind/nanobind.h>

#include <vector>

#include "engine/base/tensor.h"

namespace svengine::python {

/// What a run has made, which is taken: tensors become NumPy arrays that own their memory, without a copy where nobody else holds it (an
/// output that is an input or a constant is copied). Strings become arrays of str, sequences lists, optionals what they hold or None, maps
/// dicts.
nanobind::list outputs_to_python(std::vector<Tensor> outputs);

}  // namespace svengine::python
