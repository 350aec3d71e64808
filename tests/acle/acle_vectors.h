// Helpers of the cases: vector types by template, predicates by number, loops over the operands.
//
// Predicate k of a vector of n elements: the first k elements for k = 0..n, then three irregular ones. The complete
// predicate is tried on all operands, the others on some.
#pragma once
#include <arm_sve.h>

#include "tests/acle/acle_cases.h"

namespace svengine::acle::SVENGINE_ACLE_SET {

#define ACLE_FIXED __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)))
typedef svint8_t v_s8 ACLE_FIXED;
typedef svuint8_t v_u8 ACLE_FIXED;
typedef svint16_t v_s16 ACLE_FIXED;
typedef svuint16_t v_u16 ACLE_FIXED;
typedef svint32_t v_s32 ACLE_FIXED;
typedef svuint32_t v_u32 ACLE_FIXED;
typedef svint64_t v_s64 ACLE_FIXED;
typedef svuint64_t v_u64 ACLE_FIXED;
typedef svfloat32_t v_f32 ACLE_FIXED;
typedef svfloat64_t v_f64 ACLE_FIXED;
typedef svbool_t vb ACLE_FIXED;

inline constexpr int kVectorBytes = __ARM_FEATURE_SVE_BITS / 8;
inline constexpr int kIrregular = 3;

template <class V>
struct Type;
#define ACLE_TYPE(suffix, element, unsigned_vector, log_width)                                                 \
  template <>                                                                                                  \
  struct Type<v_##suffix> {                                                                                    \
    using T = element;                                                                                         \
    using U = unsigned_vector;                                                                                 \
    static constexpr const char* kName = #suffix;                                                              \
    static constexpr int kLogWidth = log_width;                                                                \
    static constexpr int kCount = kVectorBytes >> log_width;                                                   \
    static constexpr bool kFloat = element(0.5f) != 0;                                                         \
    static constexpr Kind kKind = !kFloat ? Kind::kInteger : log_width == 2 ? Kind::kFloat32 : Kind::kFloat64; \
  };
ACLE_TYPE(s8, int8_t, v_u8, 0)
ACLE_TYPE(u8, uint8_t, v_u8, 0)
ACLE_TYPE(s16, int16_t, v_u16, 1)
ACLE_TYPE(u16, uint16_t, v_u16, 1)
ACLE_TYPE(s32, int32_t, v_u32, 2)
ACLE_TYPE(u32, uint32_t, v_u32, 2)
ACLE_TYPE(s64, int64_t, v_u64, 3)
ACLE_TYPE(u64, uint64_t, v_u64, 3)
ACLE_TYPE(f32, float, v_u32, 2)
ACLE_TYPE(f64, double, v_u64, 3)
#undef ACLE_TYPE
template <class V>
using Element = typename Type<V>::T;
template <class V>
inline constexpr int kCount = Type<V>::kCount;
template <class V>
inline constexpr int kPredicates = kCount<V> + 1 + kIrregular;

template <class V>
inline vb full() {
  if constexpr (Type<V>::kLogWidth == 0) return svptrue_b8();
  if constexpr (Type<V>::kLogWidth == 1) return svptrue_b16();
  if constexpr (Type<V>::kLogWidth == 2) return svptrue_b32();
  if constexpr (Type<V>::kLogWidth == 3) return svptrue_b64();
}
template <class V>
inline vb below(int64_t count) {
  const int64_t zero = 0;
  if constexpr (Type<V>::kLogWidth == 0) return svwhilelt_b8(zero, count);
  if constexpr (Type<V>::kLogWidth == 1) return svwhilelt_b16(zero, count);
  if constexpr (Type<V>::kLogWidth == 2) return svwhilelt_b32(zero, count);
  if constexpr (Type<V>::kLogWidth == 3) return svwhilelt_b64(zero, count);
}
inline bool irregular_bit(int pattern, int i) {
  return (pattern == 0 ? i % 2 : pattern == 1 ? i % 3 == 1 : i * i % 7 > 2) != 0;
}
template <class V>
inline vb predicate(int k) {
  if (k <= kCount<V>) return below<V>(k);
  using T = Element<typename Type<V>::U>;
  T bits[kCount<V>];
  for (int i = 0; i < kCount<V>; ++i) bits[i] = irregular_bit(k - kCount<V> - 1, i);
  return svcmpne(full<V>(), svld1(full<V>(), bits), T(0));
}
template <class V>
inline const Element<V>* operand(const Sink* s, int which) {
  if constexpr (Type<V>::kKind == Kind::kFloat32)
    return s->operands->f32[which];
  else if constexpr (Type<V>::kKind == Kind::kFloat64)
    return s->operands->f64[which];
  else
    return (const Element<V>*)s->operands->integers[Type<V>::kLogWidth][which];
}
template <class V>
inline int operand_count(const Sink* s) {
  return Type<V>::kFloat ? s->operands->float_count : s->operands->integer_count;
}

template <class V>
inline void begin(Sink* s, const char* intrinsic) {
  s->begin(s, intrinsic, Type<V>::kName);
}
template <class T>
inline void put_scalar(Sink* s, int k, Kind kind, T value) {
  s->put(s, k, kind, sizeof(T), &value, sizeof(T));
}
// The elements of v that are active in `wanted`; zeros elsewhere.
template <class V>
inline void put(Sink* s, int k, vb wanted, V v) {
  Element<V> buffer[kCount<V>] = {};
  svst1(wanted, buffer, v);
  s->put(s, k, Type<V>::kKind, sizeof(Element<V>), buffer, sizeof(buffer));
}
template <class V>
inline void put_predicate(Sink* s, int k, vb p) {
  using U = typename Type<V>::U;
  const U one = [] {
    if constexpr (Type<V>::kLogWidth == 0) return U(svdup_u8(1));
    if constexpr (Type<V>::kLogWidth == 1) return U(svdup_u16(1));
    if constexpr (Type<V>::kLogWidth == 2) return U(svdup_u32(1));
    if constexpr (Type<V>::kLogWidth == 3) return U(svdup_u64(1));
  }();
  Element<U> buffer[kCount<V>] = {};
  svst1(p, buffer, one);
  s->put(s, k, Kind::kInteger, sizeof(Element<U>), buffer, sizeof(buffer));
}

// Calls visit(k, p, offset of the operands) for each predicate: all operands with the complete one, every eighth vector
// of them with the others.
template <class V, class Visit>
inline void each(const Sink* s, Visit visit) {
  const int count = operand_count<V>(s);
  for (int k = 0; k < kPredicates<V>; ++k) {
    const vb p = predicate<V>(k);
    const int step = k == kCount<V> ? kCount<V> : 8 * kCount<V>;
    for (int at = 0; at < count; at += step) visit(k, p, at);
  }
}

template <class V>
inline V not_a_number() {  // a quiet one
  if constexpr (Type<V>::kLogWidth == 2)
    return svdup_f32(__builtin_nanf(""));
  else
    return svdup_f64(__builtin_nan(""));
}

enum class Lanes { kActive, kAll };  // which lanes of a result are defined: _x leaves inactive ones open

template <class V, class F>
inline void each_unary(Sink* s, const char* name, Lanes lanes, F f) {
  begin<V>(s, name);
  each<V>(s, [&](int k, vb p, int at) {
    const vb all = full<V>();
    const V a = svld1(all, operand<V>(s, 0) + at), b = svld1(all, operand<V>(s, 1) + at);
    put<V>(s, k, lanes == Lanes::kAll ? all : p, f(p, a, b));
  });
}
template <class V, class F>
inline void each_binary(Sink* s, const char* name, Lanes lanes, F f) {
  each_unary<V>(s, name, lanes, f);
}
template <class V, class F>
inline void each_binary_scalar(Sink* s, const char* name, Lanes lanes, F f) {
  begin<V>(s, name);
  each<V>(s, [&](int k, vb p, int at) {
    const vb all = full<V>();
    const V a = svld1(all, operand<V>(s, 0) + at);
    for (int i = 0; i < 2; ++i) put<V>(s, k, lanes == Lanes::kAll ? all : p, f(p, a, operand<V>(s, 1)[at + i]));
  });
}
template <class V, class F>
inline void each_ternary(Sink* s, const char* name, Lanes lanes, F f) {
  begin<V>(s, name);
  each<V>(s, [&](int k, vb p, int at) {
    const vb all = full<V>();
    const V a = svld1(all, operand<V>(s, 0) + at), b = svld1(all, operand<V>(s, 1) + at),
            c = svld1(all, operand<V>(s, 2) + at);
    put<V>(s, k, lanes == Lanes::kAll ? all : p, f(p, a, b, c));
  });
}

// All forms of an intrinsic; V is the vector type of the function that uses these.
#define ACLE_UNARY(op)                                                                        \
  each_unary<V>(s, #op "_x", Lanes::kActive, [](vb p, V a, V) -> V { return op##_x(p, a); }); \
  each_unary<V>(s, #op "_z", Lanes::kAll, [](vb p, V a, V) -> V { return op##_z(p, a); });    \
  each_unary<V>(s, #op "_m", Lanes::kAll, [](vb p, V a, V b) -> V { return op##_m(b, p, a); })
#define ACLE_BINARY(op)                                                                                               \
  each_binary<V>(s, #op "_x", Lanes::kActive, [](vb p, V a, V b) -> V { return op##_x(p, a, b); });                   \
  each_binary<V>(s, #op "_z", Lanes::kAll, [](vb p, V a, V b) -> V { return op##_z(p, a, b); });                      \
  each_binary<V>(s, #op "_m", Lanes::kAll, [](vb p, V a, V b) -> V { return op##_m(p, a, b); });                      \
  each_binary_scalar<V>(s, #op "_n_x", Lanes::kActive, [](vb p, V a, Element<V> b) -> V { return op##_x(p, a, b); }); \
  each_binary_scalar<V>(s, #op "_n_z", Lanes::kAll, [](vb p, V a, Element<V> b) -> V { return op##_z(p, a, b); });    \
  each_binary_scalar<V>(s, #op "_n_m", Lanes::kAll, [](vb p, V a, Element<V> b) -> V { return op##_m(p, a, b); })
#define ACLE_TERNARY(op)                                                                                     \
  each_ternary<V>(s, #op "_x", Lanes::kActive, [](vb p, V a, V b, V c) -> V { return op##_x(p, a, b, c); }); \
  each_ternary<V>(s, #op "_z", Lanes::kAll, [](vb p, V a, V b, V c) -> V { return op##_z(p, a, b, c); });    \
  each_ternary<V>(s, #op "_m", Lanes::kAll, [](vb p, V a, V b, V c) -> V { return op##_m(p, a, b, c); });    \
  each_ternary<V>(s, #op "_n_x", Lanes::kActive,                                                             \
                  [](vb p, V a, V b, V c) -> V { return op##_x(p, a, b, svlasta(svpfalse(), c)); });         \
  each_ternary<V>(s, #op "_n_z", Lanes::kAll,                                                                \
                  [](vb p, V a, V b, V c) -> V { return op##_z(p, a, b, svlasta(svpfalse(), c)); });         \
  each_ternary<V>(s, #op "_n_m", Lanes::kAll,                                                                \
                  [](vb p, V a, V b, V c) -> V { return op##_m(p, a, b, svlasta(svpfalse(), c)); })

}  // namespace svengine::acle::SVENGINE_ACLE_SET
