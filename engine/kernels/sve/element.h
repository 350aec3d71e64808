// The element types of kernels that are written once for several: vectors of T, their lanes and predicates.
#pragma once
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

template <class T>
struct ElementOf;
template <>
struct ElementOf<float> {
  using Vector = vf;
  SVENGINE_INLINE static vf dup(float x) { return svdup_f32(x); }
};
template <>
struct ElementOf<double> {
  using Vector = vd;
  SVENGINE_INLINE static vd dup(double x) { return svdup_f64(x); }
};
template <>
struct ElementOf<int64_t> {
  using Vector = vl;
  SVENGINE_INLINE static vl dup(int64_t x) { return svdup_s64(x); }
};
template <>
struct ElementOf<int32_t> {
  using Vector = vi;
  SVENGINE_INLINE static vi dup(int32_t x) { return svdup_s32(x); }
};
template <>
struct ElementOf<uint8_t> {
  using Vector = vbyte;
  SVENGINE_INLINE static vbyte dup(uint8_t x) { return svdup_u8(x); }
};

template <class T>
using Vec = typename ElementOf<T>::Vector;
template <class T>
inline constexpr int kLanesOf = static_cast<int>(kVectorBytes / sizeof(T));

/// All lanes of a vector of T; those below end, where lane 0 is `from`; a number in every lane.
template <class T>
SVENGINE_INLINE vb every() {
  static_assert(sizeof(T) == 8 || sizeof(T) == 4 || sizeof(T) == 1);
  if constexpr (sizeof(T) == 8) return svptrue_b64();
  if constexpr (sizeof(T) == 4) return svptrue_b32();
  if constexpr (sizeof(T) == 1) return svptrue_b8();
}
template <class T>
SVENGINE_INLINE vb lanes_below(int64_t from, int64_t end) {
  static_assert(sizeof(T) == 8 || sizeof(T) == 4 || sizeof(T) == 1);
  if constexpr (sizeof(T) == 8) return svwhilelt_b64(from, end);
  if constexpr (sizeof(T) == 4) return svwhilelt_b32(from, end);
  if constexpr (sizeof(T) == 1) return svwhilelt_b8(from, end);
}
template <class T>
SVENGINE_INLINE Vec<T> repeated(T x) {
  return ElementOf<T>::dup(x);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
