// From an element type known at run time to one known to the compiler.
#pragma once
#include <cstdint>

#include "engine/base/dtype.h"

namespace svengine::ops {

/// Calls f.template operator()<T>() with the C++ type of a number type that C++ can compute with (not float16, bfloat16).
template <class F>
auto with_type(DType type, F&& f) {
  switch (type) {
    case DType::f64: return f.template operator()<double>();
    case DType::i8: return f.template operator()<int8_t>();
    case DType::i16: return f.template operator()<int16_t>();
    case DType::i32: return f.template operator()<int32_t>();
    case DType::i64: return f.template operator()<int64_t>();
    case DType::boolean:
    case DType::u8: return f.template operator()<uint8_t>();
    case DType::u16: return f.template operator()<uint16_t>();
    case DType::u32: return f.template operator()<uint32_t>();
    case DType::u64: return f.template operator()<uint64_t>();
    default: return f.template operator()<float>();
  }
}

}  // namespace svengine::ops
