// Sets of element types.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>

#include "engine/base/dtype.h"

namespace svengine {

/// Of types with numbers below 32: all but sequences, optionals and maps. A structural type, so that it can be a template argument.
struct DTypeSet {
  uint32_t bits = 0;

  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> types) {
    for (DType t : types) bits |= 1u << static_cast<int>(t);
  }
  constexpr bool has(DType t) const { return static_cast<uint32_t>(t) < 32 && (bits >> static_cast<int>(t) & 1u); }
  constexpr bool empty() const { return bits == 0; }
  friend constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) {
    a.bits |= b.bits;
    return a;
  }
  friend constexpr DTypeSet operator&(DTypeSet a, DTypeSet b) {
    a.bits &= b.bits;
    return a;
  }
  /// Those of a that are not in b.
  friend constexpr DTypeSet operator-(DTypeSet a, DTypeSet b) {
    a.bits &= ~b.bits;
    return a;
  }
  friend constexpr bool operator==(DTypeSet a, DTypeSet b) = default;
};

/// "float32, int64 or bool".
std::string to_string(DTypeSet types);

/// Dense tensors' types: what can lie in an arena.
inline constexpr DTypeSet kDenseTypes{
    DType::f32,      DType::f64,        DType::f16,    DType::bf16,       DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz,
    DType::f8e8m0,   DType::f4e2m1,     DType::i8,     DType::i16,        DType::i32,      DType::i64,        DType::u8,     DType::u16,
    DType::u32,      DType::u64,        DType::i4,     DType::u4,         DType::i2,       DType::u2,         DType::boolean};
/// Floating-point types below float32, which hardly any kernel computes with.
inline constexpr DTypeSet kNarrowFloatTypes{DType::f16,    DType::bf16,       DType::f8e4m3fn, DType::f8e4m3fnuz,
                                            DType::f8e5m2, DType::f8e5m2fnuz, DType::f8e8m0,   DType::f4e2m1};

}  // namespace svengine
