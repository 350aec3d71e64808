// What Python gives as tensors.
#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "engine/base/tensor.h"
#include "engine/graph/graph.h"

namespace svengine::python {

/// A value for an input of this type. Arrays of NumPy, and of whatever else speaks DLPack on the CPU, lend their memory where it is
/// C-contiguous, and are packed once elsewhere; numbers and nested lists become arrays of `type`'s element type. Strings are arrays
/// or lists of str or bytes; sequences lists or tuples; optionals None or what they hold; maps dicts. The tensor keeps what it borrows from
/// alive, and may be let go by any thread. EngineError names `what`; of the type only what conversion needs is checked, the rest is
/// Session::check_inputs()'.
Tensor tensor_from_python(nanobind::handle value, const Type& type, const std::string& what);

/// The same without a type to fit.
Tensor tensor_from_array(nanobind::handle value, const std::string& what);

}  // namespace svengine::python
