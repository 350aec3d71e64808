// Host ACLE: predicates, comparisons, selection, constants.
#pragma once
#include "sve_types.h"

#define SVE_PREDICATES(suffix, bits)                                                                                  \
  SVE_FN svbool_t svptrue_##suffix() { return sve_host::predicate_full<sve_host::kBytes * 8 / bits>(); }              \
  template <class T>                                                                                                  \
  SVE_FN svbool_t svwhilelt_##suffix(T begin, T end) {                                                                \
    return sve_host::predicate_below<sve_host::kBytes * 8 / bits>(begin < end ? uint64_t(end) - uint64_t(begin) : 0); \
  }                                                                                                                   \
  SVE_FN uint64_t svcntp_##suffix(svbool_t g, svbool_t p) {                                                           \
    constexpr int kElements = sve_host::kBytes * 8 / bits;                                                            \
    return uint64_t(                                                                                                  \
        __builtin_popcountll(sve_host::predicate_bits<kElements>(g) & sve_host::predicate_bits<kElements>(p)));       \
  }
SVE_PREDICATES(b8, 8)
SVE_PREDICATES(b16, 16)
SVE_PREDICATES(b32, 32)
SVE_PREDICATES(b64, 64)
#undef SVE_PREDICATES
SVE_FN svbool_t svpfalse() { return sve_host::predicate_none(); }
SVE_FN svbool_t svpfalse_b() { return sve_host::predicate_none(); }

SVE_FN uint64_t svcntb() { return sve_host::kBytes; }
SVE_FN uint64_t svcnth() { return sve_host::kBytes / 2; }
SVE_FN uint64_t svcntw() { return sve_host::kBytes / 4; }
SVE_FN uint64_t svcntd() { return sve_host::kBytes / 8; }

SVE_FN svbool_t svand_z(svbool_t g, svbool_t a, svbool_t b) {
  return sve_host::predicate_and(g, sve_host::predicate_and(a, b));
}
SVE_FN svbool_t svorr_z(svbool_t g, svbool_t a, svbool_t b) {
  return sve_host::predicate_and(g, sve_host::predicate_or(a, b));
}
SVE_FN svbool_t sveor_z(svbool_t g, svbool_t a, svbool_t b) {
  return sve_host::predicate_and(g, sve_host::predicate_xor(a, b));
}
SVE_FN svbool_t svbic_z(svbool_t g, svbool_t a, svbool_t b) {
  return sve_host::predicate_and(g, sve_host::predicate_andnot(a, b));
}
SVE_FN svbool_t svnot_z(svbool_t g, svbool_t a) { return sve_host::predicate_andnot(g, a); }
SVE_FN svbool_t svmov_z(svbool_t g, svbool_t a) { return sve_host::predicate_and(g, a); }
SVE_FN bool svptest_any(svbool_t g, svbool_t p) { return sve_host::predicate_any(sve_host::predicate_and(g, p)); }
SVE_FN bool svptest_first(svbool_t g, svbool_t p) { return sve_host::predicate_first(g, p); }

// Comparisons with a vector or a scalar; false in inactive lanes. On NaN only "not equal" and "unordered" hold.
#define SVE_COMPARE(name, op, constraint)                                              \
  template <sve_host::constraint V>                                                    \
  SVE_FN svbool_t name(svbool_t g, V a, V b) {                                         \
    return sve_host::predicate_and(sve_host::compare<sve_host::Compare::op>(a, b), g); \
  }                                                                                    \
  template <sve_host::constraint V>                                                    \
  SVE_FN svbool_t name(svbool_t g, V a, sve_host::Element<V> b) {                      \
    return name(g, a, sve_host::dup<V>(b));                                            \
  }
SVE_COMPARE(svcmpeq, kEq, Vector)
SVE_COMPARE(svcmpne, kNe, Vector)
SVE_COMPARE(svcmplt, kLt, Vector)
SVE_COMPARE(svcmple, kLe, Vector)
SVE_COMPARE(svcmpgt, kGt, Vector)
SVE_COMPARE(svcmpge, kGe, Vector)
SVE_COMPARE(svcmpuo, kUnordered, FloatVector)
#undef SVE_COMPARE

template <sve_host::Vector V>
SVE_FN V svsel(svbool_t p, V a, V b) {
  return sve_host::sel(p, a, b);
}
SVE_FN svbool_t svsel(svbool_t p, svbool_t a, svbool_t b) {
  return sve_host::predicate_or(sve_host::predicate_and(a, p), sve_host::predicate_andnot(b, p));
}

// Names by type: constants, undefined values, reinterpretation.
#define SVE_NAMED(suffix, vector)                                                                       \
  SVE_FN vector svdup_##suffix(sve_host::Element<vector> s) { return sve_host::dup<vector>(s); }        \
  SVE_FN vector svdup_##suffix##_x(svbool_t, sve_host::Element<vector> s) { return svdup_##suffix(s); } \
  SVE_FN vector svdup_##suffix##_z(svbool_t p, sve_host::Element<vector> s) {                           \
    return sve_host::sel(p, svdup_##suffix(s), vector{});                                               \
  }                                                                                                     \
  SVE_FN vector svdup_##suffix##_m(vector inactive, svbool_t p, sve_host::Element<vector> s) {          \
    return sve_host::sel(p, svdup_##suffix(s), inactive);                                               \
  }                                                                                                     \
  SVE_FN vector svundef_##suffix() { return vector{}; }                                                 \
  template <sve_host::Vector V>                                                                         \
  SVE_FN vector svreinterpret_##suffix(V v) {                                                           \
    return (vector)v;                                                                                   \
  }                                                                                                     \
  SVE_FN vector svreinterpret_##suffix(svfloat16_t v) { return (vector)v.bits; }
SVE_NAMED(s8, svint8_t)
SVE_NAMED(u8, svuint8_t)
SVE_NAMED(s16, svint16_t)
SVE_NAMED(u16, svuint16_t)
SVE_NAMED(s32, svint32_t)
SVE_NAMED(u32, svuint32_t)
SVE_NAMED(s64, svint64_t)
SVE_NAMED(u64, svuint64_t)
SVE_NAMED(f32, svfloat32_t)
SVE_NAMED(f64, svfloat64_t)
#undef SVE_NAMED
template <sve_host::Vector V>
SVE_FN svfloat16_t svreinterpret_f16(V v) {
  return {(svuint16_t)v};
}

#define SVE_INDEX(suffix, vector)                                                                  \
  SVE_FN vector svindex_##suffix(sve_host::Element<vector> base, sve_host::Element<vector> step) { \
    using U = sve_host::Unsigned<vector>;                                                          \
    using E = sve_host::Element<U>;                                                                \
    return (vector)(sve_host::dup<U>(E(base)) + sve_host::dup<U>(E(step)) * sve_host::iota<U>());  \
  }
SVE_INDEX(s32, svint32_t)
SVE_INDEX(u32, svuint32_t)
SVE_INDEX(s64, svint64_t)
SVE_INDEX(u64, svuint64_t)
#undef SVE_INDEX
