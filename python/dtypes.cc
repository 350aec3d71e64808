#include "python/dtypes.h"

#include "python/bindings.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

struct Row {
  DType type;
  const char* module;
  const char* name;
  nb::dlpack::dtype_code code;
  uint8_t bits;
};

using Code = nb::dlpack::dtype_code;
constexpr const char *kNumpy = "numpy", *kMlDtypes = "ml_dtypes";
constexpr Row kRows[] = {
    {DType::f32, kNumpy, "float32", Code::Float, 32},
    {DType::f64, kNumpy, "float64", Code::Float, 64},
    {DType::f16, kNumpy, "float16", Code::Float, 16},
    {DType::i64, kNumpy, "int64", Code::Int, 64},
    {DType::i32, kNumpy, "int32", Code::Int, 32},
    {DType::i16, kNumpy, "int16", Code::Int, 16},
    {DType::i8, kNumpy, "int8", Code::Int, 8},
    {DType::u64, kNumpy, "uint64", Code::UInt, 64},
    {DType::u32, kNumpy, "uint32", Code::UInt, 32},
    {DType::u16, kNumpy, "uint16", Code::UInt, 16},
    {DType::u8, kNumpy, "uint8", Code::UInt, 8},
    {DType::boolean, kNumpy, "bool", Code::Bool, 8},
    {DType::bf16, kMlDtypes, "bfloat16", Code::Bfloat, 16},
    {DType::f8e4m3fn, kMlDtypes, "float8_e4m3fn", Code::Float8_E4M3FN, 8},
    {DType::f8e4m3fnuz, kMlDtypes, "float8_e4m3fnuz", Code::Float8_E4M3FNUZ, 8},
    {DType::f8e5m2, kMlDtypes, "float8_e5m2", Code::Float8_E5M2, 8},
    {DType::f8e5m2fnuz, kMlDtypes, "float8_e5m2fnuz", Code::Float8_E5M2FNUZ, 8},
    {DType::f8e8m0, kMlDtypes, "float8_e8m0fnu", Code::Float8_E8M0FNU, 8},
    // DLPack packs what is narrower than a byte, so these have no code of their own here.
    {DType::f4e2m1, kMlDtypes, "float4_e2m1fn", Code::Float4_E2M1FN, 0},
    {DType::i4, kMlDtypes, "int4", Code::Int, 0},
    {DType::u4, kMlDtypes, "uint4", Code::UInt, 0},
    {DType::i2, kMlDtypes, "int2", Code::Int, 0},
    {DType::u2, kMlDtypes, "uint2", Code::UInt, 0},
};

/// The module of that name, or nothing where it is not installed.
nb::object import_or_none(const char* name) {
  PyObject* module = PyImport_ImportModule(name);
  if (module) return nb::steal(module);
  if (!PyErr_ExceptionMatches(PyExc_ImportError)) nb::raise_python_error();
  PyErr_Clear();
  return nb::none();
}

/// Both directions. Lives as long as the process: the interpreter is gone when static objects end.
struct Tables {
  nb::dict from_numpy;
  nb::object to_numpy[128];  // by DType; empty: not installed

  Tables() {
    const nb::object make = numpy().attr("dtype"), ml_dtypes = import_or_none(kMlDtypes);
    for (const Row& row : kRows) {
      nb::object dtype;
      if (row.module == kNumpy) dtype = make(row.name);
      else if (!ml_dtypes.is_none() && nb::hasattr(ml_dtypes, row.name)) dtype = make(ml_dtypes.attr(row.name));
      else continue;  // an older ml_dtypes, or none
      from_numpy[dtype] = static_cast<int>(row.type);
      to_numpy[static_cast<size_t>(row.type)] = dtype;
    }
  }
};

const Tables& tables() {
  static const Tables* const made = new Tables;
  return *made;
}

}  // namespace

nb::handle numpy() {
  static const nb::object* const module = new nb::object(nb::module_::import_("numpy"));
  return *module;
}

DType dtype_from_numpy(nb::handle dtype) {
  PyObject* found = PyDict_GetItemWithError(tables().from_numpy.ptr(), dtype.ptr());
  if (!found && PyErr_Occurred()) nb::raise_python_error();
  return found ? static_cast<DType>(nb::cast<int>(nb::handle(found))) : DType::undefined;
}

nb::object numpy_dtype(DType type) {
  const nb::object& found = tables().to_numpy[static_cast<size_t>(type)];
  if (!found.is_valid())
    throw EngineError(fmt::format("NumPy has no {}; the package ml_dtypes has, and it is not installed, or too old", name_of(type)));
  return found;
}

DType dtype_from_dlpack(nb::dlpack::dtype type) {
  for (const Row& row : kRows)
    if (type.lanes == 1 && type.code == static_cast<uint8_t>(row.code) && type.bits == row.bits) return row.type;
  return DType::undefined;
}

bool is_narrow(DType type) {
  switch (type) {
    case DType::f4e2m1: case DType::i4: case DType::u4: case DType::i2: case DType::u2: return true;
    default: return false;
  }
}

}  // namespace svengine::python
