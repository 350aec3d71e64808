// From element types as values to C++ types: visit(T()) is called with a number of that type.
#pragma once
#include <cstdint>

#include "engine/kernels/elementwise.h"

namespace svengine::kernels::reference {

/// f16, bf16 and bool, which C++ numbers of their size would be mistaken for.
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
struct Bool {
  uint8_t value;
};

template <class Visit>
void visit_type(DType type, const Visit& visit) {
  switch (type) {
    case DType::f32:
      return visit(float());
    case DType::u8:
      return visit(uint8_t());
    case DType::i8:
      return visit(int8_t());
    case DType::u16:
      return visit(uint16_t());
    case DType::i16:
      return visit(int16_t());
    case DType::i32:
      return visit(int32_t());
    case DType::i64:
      return visit(int64_t());
    case DType::boolean:
      return visit(Bool());
    case DType::f16:
      return visit(Half());
    case DType::f64:
      return visit(double());
    case DType::u32:
      return visit(uint32_t());
    case DType::u64:
      return visit(uint64_t());
    case DType::bf16:
      return visit(Brain());
    default:
      return;  // narrower types are only stored
  }
}

template <class Visit>
void visit_element(DType type, const Visit& visit) {
  switch (type) {
    case DType::f32:
      return visit(float());
    case DType::f64:
      return visit(double());
    case DType::i32:
      return visit(int32_t());
    case DType::i64:
      return visit(int64_t());
    default:
      return;  // task_kernel.h: computing kernels have these four
  }
}

/// The unsigned integer of as many bytes.
template <class Visit>
void visit_bytes(int32_t bytes, const Visit& visit) {
  switch (bytes) {
    case 1:
      return visit(uint8_t());
    case 2:
      return visit(uint16_t());
    case 4:
      return visit(uint32_t());
    case 8:
      return visit(uint64_t());
  }
}

/// Number `at` of an array of int32 (4 bytes) or int64 (8 bytes).
inline int64_t integer_at(const void* integers, int32_t bytes, int64_t at) {
  return bytes == 4 ? static_cast<const int32_t*>(integers)[at] : static_cast<const int64_t*>(integers)[at];
}

}  // namespace svengine::kernels::reference
