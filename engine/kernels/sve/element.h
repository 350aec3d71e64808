// The element types of kernels that are written once for several: vectors of T, their lanes and predicates.
#pragma once
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

typedef svuint8_t vbyte __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));

template <class T>
struct ElementOf;
template <>
struct ElementOf<float> {
  using Vector = vf;
  SVENGINE_INLINE static vb all() { return svptrue_b32(); }
  SVENGINE_INLINE static vb below(int64_t from, int64_t end) { return svwhilelt_b32(from, end); }
  SVENGINE_INLINE static vf dup(float x) { return svdup_f32(x); }
};
template <>
struct ElementOf<double> {
  using Vector = vd;
  SVENGINE_INLINE static vb all() { return svptrue_b64(); }
  SVENGINE_INLINE static vb below(int64_t from, int64_t end) { return svwhilelt_b64(from, end); }
  SVENGINE_INLINE static vd dup(double x) { return svdup_f64(x); }
};
template <>
struct ElementOf<int64_t> {
  using Vector = vl;
  SVENGINE_INLINE static vb all() { return svptrue_b64(); }
  SVENGINE_INLINE static vb below(int64_t from, int64_t end) { return svwhilelt_b64(from, end); }
  SVENGINE_INLINE static vl dup(int64_t x) { return svdup_s64(x); }
};
template <>
struct ElementOf<int32_t> {
  using Vector = vi;
  SVENGINE_INLINE static vb all() { return svptrue_b32(); }
  SVENGINE_INLINE static vb below(int64_t from, int64_t end) { return svwhilelt_b32(from, end); }
  SVENGINE_INLINE static vi dup(int32_t x) { return svdup_s32(x); }
};
template <>
struct ElementOf<uint8_t> {
  using Vector = vbyte;
  SVENGINE_INLINE static vb all() { return svptrue_b8(); }
  SVENGINE_INLINE static vb below(int64_t from, int64_t end) { return svwhilelt_b8(from, end); }
  SVENGINE_INLINE static vbyte dup(uint8_t x) { return svdup_u8(x); }
};

template <class T>
using Vec = typename ElementOf<T>::Vector;
template <class T>
inline constexpr int kLanesOf = __ARM_FEATURE_SVE_BITS / 8 / static_cast<int>(sizeof(T));

/// All lanes of a vector of T; those below end, where lane 0 is `from`; a number in every lane.
template <class T>
SVENGINE_INLINE vb every() {
  return ElementOf<T>::all();
}
template <class T>
SVENGINE_INLINE vb lanes_below(int64_t from, int64_t end) {
  return ElementOf<T>::below(from, end);
}
template <class T>
SVENGINE_INLINE Vec<T> repeated(T x) {
  return ElementOf<T>::dup(x);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
