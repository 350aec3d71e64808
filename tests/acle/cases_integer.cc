// Integer arithmetic, logic, shifts, dot products, constants.
#include "tests/acle/acle_vectors.h"

namespace svengine::acle::SVENGINE_ACLE_SET {
namespace {

template <class V>
void any_width(Sink* s) {
  ACLE_BINARY(svadd);
  ACLE_BINARY(svsub);
  ACLE_BINARY(svsubr);
  ACLE_BINARY(svand);
  ACLE_BINARY(svorr);
  ACLE_BINARY(sveor);
  ACLE_BINARY(svbic);
  ACLE_BINARY(svmax);
  ACLE_BINARY(svmin);
  ACLE_BINARY(svabd);
  ACLE_BINARY(svmul);
  ACLE_UNARY(svnot);
}
template <class V>
void any_signed(Sink* s) {
  ACLE_UNARY(svneg);
  ACLE_UNARY(svabs);
}
template <class V>
void wide(Sink* s) {
  ACLE_BINARY(svdiv);
  ACLE_TERNARY(svmla);
  ACLE_TERNARY(svmls);
  ACLE_TERNARY(svmad);
  ACLE_TERNARY(svmsb);
}

#define ACLE_SHIFT(op)                                                                                           \
  each_binary<V>(s, #op "_x", Lanes::kActive, [](vb p, V a, V n) -> V { return op##_x(p, a, count_of<V>(n)); }); \
  each_binary<V>(s, #op "_z", Lanes::kAll, [](vb p, V a, V n) -> V { return op##_z(p, a, count_of<V>(n)); });    \
  each_binary<V>(s, #op "_m", Lanes::kAll, [](vb p, V a, V n) -> V { return op##_m(p, a, count_of<V>(n)); });    \
  each_binary_scalar<V>(s, #op "_n_x", Lanes::kActive,                                                           \
                        [](vb p, V a, Element<V> n) -> V { return op##_x(p, a, Count<V>(n)); });                 \
  each_binary_scalar<V>(s, #op "_n_z", Lanes::kAll,                                                              \
                        [](vb p, V a, Element<V> n) -> V { return op##_z(p, a, Count<V>(n)); });                 \
  each_binary_scalar<V>(s, #op "_n_m", Lanes::kAll,                                                              \
                        [](vb p, V a, Element<V> n) -> V { return op##_m(p, a, Count<V>(n)); });                 \
  each_unary<V>(s, #op "_x(5)", Lanes::kActive, [](vb p, V a, V) -> V { return op##_x(p, a, Count<V>(5)); });    \
  each_unary<V>(s, #op "_x(64)", Lanes::kActive, [](vb p, V a, V) -> V { return op##_x(p, a, Count<V>(64)); })
template <class V>
using Count = Element<typename Type<V>::U>;
template <class V>
typename Type<V>::U count_of(V n) {
  if constexpr (Type<V>::kLogWidth == 0) return svreinterpret_u8(n);
  if constexpr (Type<V>::kLogWidth == 1) return svreinterpret_u16(n);
  if constexpr (Type<V>::kLogWidth == 2) return svreinterpret_u32(n);
  if constexpr (Type<V>::kLogWidth == 3) return svreinterpret_u64(n);
}
template <class V>
void signed_shifts(Sink* s) {
  ACLE_SHIFT(svlsl);
  ACLE_SHIFT(svasr);
}
template <class V>
void unsigned_shifts(Sink* s) {
  ACLE_SHIFT(svlsl);
  ACLE_SHIFT(svlsr);
}

template <class Sum, class V>
void dot_products(Sink* s) {
  begin<V>(s, "svdot");
  for (int at = 0; at < operand_count<V>(s); at += kCount<V>) {
    const V a = svld1(full<V>(), operand<V>(s, 0) + at), b = svld1(full<V>(), operand<V>(s, 1) + at);
    const Sum sum = svld1(full<Sum>(), operand<Sum>(s, 0) + at / 4);
    put<Sum>(s, 0, full<Sum>(), svdot(sum, a, b));
  }
}

#define ACLE_CONSTANT(suffix)                                     \
  {                                                               \
    using V = v_##suffix;                                         \
    begin<V>(s, "svdup_" #suffix);                                \
    each<V>(s, [&](int k, vb p, int at) {                         \
      const Element<V> value = operand<V>(s, 1)[at];              \
      const V old = svld1(full<V>(), operand<V>(s, 0) + at);      \
      put<V>(s, k, full<V>(), svdup_##suffix(value));             \
      put<V>(s, k, p, svdup_##suffix##_x(p, value));              \
      put<V>(s, k, full<V>(), svdup_##suffix##_z(p, value));      \
      put<V>(s, k, full<V>(), svdup_##suffix##_m(old, p, value)); \
    });                                                           \
  }
#define ACLE_INDEX(suffix)                                                                   \
  {                                                                                          \
    using V = v_##suffix;                                                                    \
    begin<V>(s, "svindex_" #suffix);                                                         \
    for (int at = 0; at < operand_count<V>(s); ++at)                                         \
      put<V>(s, 0, full<V>(), svindex_##suffix(operand<V>(s, 0)[at], operand<V>(s, 1)[at])); \
  }
void constants(Sink* s) {
  ACLE_CONSTANT(s8)
  ACLE_CONSTANT(u8)
  ACLE_CONSTANT(s16)
  ACLE_CONSTANT(u16)
  ACLE_CONSTANT(s32)
  ACLE_CONSTANT(u32)
  ACLE_CONSTANT(s64)
  ACLE_CONSTANT(u64)
  ACLE_CONSTANT(f32)
  ACLE_CONSTANT(f64)
  ACLE_INDEX(s32)
  ACLE_INDEX(u32)
  ACLE_INDEX(s64)
  ACLE_INDEX(u64)
}

}  // namespace

void cases_integer(Sink* s) {
  any_width<v_s8>(s);
  any_width<v_u8>(s);
  any_width<v_s16>(s);
  any_width<v_u16>(s);
  any_width<v_s32>(s);
  any_width<v_u32>(s);
  any_width<v_s64>(s);
  any_width<v_u64>(s);
  any_signed<v_s8>(s);
  any_signed<v_s16>(s);
  any_signed<v_s32>(s);
  any_signed<v_s64>(s);
  wide<v_s32>(s);
  wide<v_u32>(s);
  wide<v_s64>(s);
  wide<v_u64>(s);
  signed_shifts<v_s8>(s);
  signed_shifts<v_s16>(s);
  signed_shifts<v_s32>(s);
  signed_shifts<v_s64>(s);
  unsigned_shifts<v_u8>(s);
  unsigned_shifts<v_u16>(s);
  unsigned_shifts<v_u32>(s);
  unsigned_shifts<v_u64>(s);
  dot_products<v_s32, v_s8>(s);
  dot_products<v_u32, v_u8>(s);
  constants(s);
}

}  // namespace svengine::acle::SVENGINE_ACLE_SET
