// Comparisons, predicates, selection.
#include "tests/acle/acle_vectors.h"

namespace svengine::acle::SVENGINE_ACLE_SET {
namespace {

#define ACLE_COMPARE(op)                                                                              \
  begin<V>(s, #op);                                                                                   \
  each<V>(s, [&](int k, vb p, int at) {                                                               \
    const V a = svld1(full<V>(), operand<V>(s, 0) + at), b = svld1(full<V>(), operand<V>(s, 1) + at); \
    put_predicate<V>(s, k, op(p, a, b));                                                              \
    put_predicate<V>(s, k, op(p, a, operand<V>(s, 1)[at]));                                           \
    put_predicate<V>(s, k, op(p, a, Element<V>(0)));                                                  \
  })
template <class V>
void comparisons(Sink* s) {
  ACLE_COMPARE(svcmpeq);
  ACLE_COMPARE(svcmpne);
  ACLE_COMPARE(svcmplt);
  ACLE_COMPARE(svcmple);
  ACLE_COMPARE(svcmpgt);
  ACLE_COMPARE(svcmpge);
  if constexpr (Type<V>::kFloat) {
    ACLE_COMPARE(svcmpuo);
    ACLE_COMPARE(svacle);
  }
  each_binary<V>(s, "svsel", Lanes::kAll, [](vb p, V a, V b) -> V { return svsel(p, a, b); });
}

template <class V>
uint64_t active_elements(vb g, vb p) {
  if constexpr (Type<V>::kLogWidth == 0) return svcntp_b8(g, p);
  if constexpr (Type<V>::kLogWidth == 1) return svcntp_b16(g, p);
  if constexpr (Type<V>::kLogWidth == 2) return svcntp_b32(g, p);
  if constexpr (Type<V>::kLogWidth == 3) return svcntp_b64(g, p);
}

template <class V>
void predicate_logic(Sink* s) {
  begin<V>(s, "predicate logic");
  for (int k = 0; k < kPredicates<V>; ++k) {
    const vb a = predicate<V>(k);
    for (int j = 0; j < kPredicates<V>; ++j) {
      const vb b = predicate<V>(j), g = predicate<V>((j + k) % kPredicates<V>), all = full<V>();
      put_predicate<V>(s, k, svand_z(g, a, b));
      put_predicate<V>(s, k, svorr_z(g, a, b));
      put_predicate<V>(s, k, sveor_z(g, a, b));
      put_predicate<V>(s, k, svbic_z(g, a, b));
      put_predicate<V>(s, k, svnot_z(g, a));
      put_predicate<V>(s, k, svnot_z(all, a));
      put_predicate<V>(s, k, svmov_z(g, a));
      put_predicate<V>(s, k, svsel(g, a, b));
      put_scalar(s, k, Kind::kInteger, active_elements<V>(g, a));
      put_scalar(s, k, Kind::kInteger, active_elements<V>(all, svnot_z(all, b)));
      put_scalar(s, k, Kind::kInteger, uint8_t(svptest_any(g, a)));
      put_scalar(s, k, Kind::kInteger, uint8_t(svptest_any(all, svnot_z(all, a))));
      put_scalar(s, k, Kind::kInteger, uint8_t(svptest_first(g, a)));
    }
    put_predicate<V>(s, k, svand_z(a, a, svpfalse()));
    put_predicate<V>(s, k, svorr_z(full<V>(), a, svpfalse_b()));
  }
}

#define ACLE_WHILE(suffix, vector, type)                                     \
  begin<vector>(s, "svwhilelt_" #suffix " " #type);                          \
  for (const int64_t from : borders)                                         \
    for (int d = 0; d <= kCount<vector> + 2; ++d) {                          \
      const uint64_t to = uint64_t(from) + uint64_t(d) - 1;                  \
      put_predicate<vector>(s, 0, svwhilelt_##suffix(type(from), type(to))); \
    }
void loops(Sink* s) {
  const int64_t borders[] = {
      0, 1, -3, 1000, -1000000, INT32_MAX - 5, INT32_MIN, INT64_C(0x100000000), INT64_MAX - 5, INT64_MIN};
  ACLE_WHILE(b8, v_u8, int64_t)
  ACLE_WHILE(b16, v_u16, int64_t)
  ACLE_WHILE(b32, v_u32, int64_t)
  ACLE_WHILE(b64, v_u64, int64_t)
  ACLE_WHILE(b32, v_u32, int32_t)
  ACLE_WHILE(b64, v_u64, int32_t)
  begin<v_u32>(s, "svcnt");
  put_scalar(s, 0, Kind::kInteger, svcntb());
  put_scalar(s, 0, Kind::kInteger, svcnth());
  put_scalar(s, 0, Kind::kInteger, svcntw());
  put_scalar(s, 0, Kind::kInteger, svcntd());
}

}  // namespace

void cases_compare(Sink* s) {
  comparisons<v_s8>(s);
  comparisons<v_u8>(s);
  comparisons<v_s16>(s);
  comparisons<v_u16>(s);
  comparisons<v_s32>(s);
  comparisons<v_u32>(s);
  comparisons<v_s64>(s);
  comparisons<v_u64>(s);
  comparisons<v_f32>(s);
  comparisons<v_f64>(s);
  predicate_logic<v_u8>(s);
  predicate_logic<v_u16>(s);
  predicate_logic<v_u32>(s);
  predicate_logic<v_u64>(s);
  loops(s);
}

}  // namespace svengine::acle::SVENGINE_ACLE_SET
