// Element types as NumPy, ml_dtypes and DLPack call them.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "engine/base/dtype.h"

namespace svengine::python {

/// The engine's type for a numpy.dtype: undefined where there is none, as for other byte orders. Strings are not asked for here.
DType dtype_from_numpy(nanobind::handle dtype);

/// NumPy's type. EngineError where only ml_dtypes has it and that package is not installed.
nanobind::object numpy_dtype(DType type);

/// The same for DLPack's.
DType dtype_from_dlpack(nanobind::dlpack::dtype type);

/// Types of which one byte holds one element of four or two bits.
bool is_narrow(DType type);

/// The module NumPy, imported once.
nanobind::handle numpy();

}  // namespace svengine::python
