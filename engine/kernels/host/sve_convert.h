// Host ACLE: conversions. Conversions to integers truncate, saturate, and take NaN to zero. Between elements of
// different width the narrower one occupies the low part of the wider one's container: element i of one is element 2 i
// of the other.
#pragma once
#include "sve_float.h"

namespace sve_host {

SVE_FN svfloat32_t to_f32(svint32_t v) { return __builtin_convertvector(v, svfloat32_t); }
SVE_FN svfloat32_t to_f32(svuint32_t v) { return __builtin_convertvector(v, svfloat32_t); }
SVE_FN svfloat64_t to_f64(svint64_t v) { return __builtin_convertvector(v, svfloat64_t); }
SVE_FN svfloat64_t to_f64(svuint64_t v) { return __builtin_convertvector(v, svfloat64_t); }

using LowFloats = Packed<uint32_t, kBytes / 8>::Type;
SVE_FN LowFloats low_words(svuint64_t v) { return __builtin_convertvector(v, LowFloats); }
SVE_FN svuint64_t in_containers(LowFloats v) { return __builtin_convertvector(v, svuint64_t); }
SVE_FN svfloat64_t to_f64(svfloat32_t v) { return widen((HalfFloat)low_words((svuint64_t)v)); }
SVE_FN svfloat32_t to_f32(svfloat64_t v) { return (svfloat32_t)in_containers((LowFloats)narrow(v)); }
SVE_FN svfloat64_t to_f64(svint32_t v) {
  return __builtin_convertvector((Packed<int32_t, kBytes / 8>::Type) low_words((svuint64_t)v), svfloat64_t);
}

using LowHalves = Packed<uint16_t, kBytes / 4>::Type;
SVE_FN svfloat32_t to_f32(svfloat16_t v) {
  return half_to_single((HalfInteger) __builtin_convertvector((svuint32_t)v.bits, LowHalves));
}
SVE_FN svfloat16_t to_f16(svfloat32_t v) {
  return {(svuint16_t) __builtin_convertvector((LowHalves)single_to_half(v), svuint32_t)};
}

template <FloatVector V>
SVE_FN Signed<V> saturate_signed(V v) {
  using I = Signed<V>;
  constexpr Element<I> kMost = Element<I>(~Element<Unsigned<V>>(0) >> 1);
  const V limit = dup<V>(Element<V>(kMost));  // rounds up to the power of two
  const I r = sel(compare<Compare::kGe>(v, limit), dup<I>(kMost), truncate(v));
  return sel(compare<Compare::kUnordered>(v, v), I{}, r);
}
SVE_FN svint32_t to_s32(svfloat32_t v) { return saturate_signed(v); }
SVE_FN svint64_t to_s64(svfloat64_t v) { return saturate_signed(v); }
SVE_FN svuint32_t to_u32(svfloat32_t v) { return truncate_unsigned(raw_max(v, svfloat32_t{})); }
SVE_FN svint32_t to_s32(svfloat64_t v) {
  const svint64_t wide = saturate_signed(v), most = dup<svint64_t>(INT32_MAX), least = dup<svint64_t>(INT32_MIN);
  return (svint32_t)sel(compare<Compare::kGt>(wide, most), most, sel(compare<Compare::kLt>(wide, least), least, wide));
}

// Lanes of the predicate are those of the wider of the two elements.
template <class To, class From>
SVE_FN To sel_converted(svbool_t p, To a, To b, From) {
  if constexpr (kSame<To, svfloat16_t>) {
    return {(svuint16_t)sel(p, (svuint32_t)a.bits, (svuint32_t)b.bits)};
  } else if constexpr (Vector<From>) {
    if constexpr (kWidth < From >> kWidth<To>)
      return (To)sel(p, (From)a, (From)b);
    else
      return sel(p, a, b);
  } else {
    return sel(p, a, b);
  }
}

}  // namespace sve_host

#define SVE_CONVERT(suffix, to, from)                                                 \
  SVE_FN to svcvt_##suffix##_x(svbool_t, from v) { return sve_host::to_##suffix(v); } \
  SVE_FN to svcvt_##suffix##_z(svbool_t p, from v) {                                  \
    return sve_host::sel_converted(p, sve_host::to_##suffix(v), to{}, v);             \
  }                                                                                   \
  SVE_FN to svcvt_##suffix##_m(to inactive, svbool_t p, from v) {                     \
    return sve_host::sel_converted(p, sve_host::to_##suffix(v), inactive, v);         \
  }
SVE_CONVERT(f32, svfloat32_t, svint32_t)
SVE_CONVERT(f32, svfloat32_t, svuint32_t)
SVE_CONVERT(f32, svfloat32_t, svfloat64_t)
SVE_CONVERT(f32, svfloat32_t, svfloat16_t)
SVE_CONVERT(f16, svfloat16_t, svfloat32_t)
SVE_CONVERT(f64, svfloat64_t, svfloat32_t)
SVE_CONVERT(f64, svfloat64_t, svint32_t)
SVE_CONVERT(f64, svfloat64_t, svint64_t)
SVE_CONVERT(f64, svfloat64_t, svuint64_t)
SVE_CONVERT(s32, svint32_t, svfloat32_t)
SVE_CONVERT(s32, svint32_t, svfloat64_t)
SVE_CONVERT(u32, svuint32_t, svfloat32_t)
SVE_CONVERT(s64, svint64_t, svfloat64_t)
#undef SVE_CONVERT
