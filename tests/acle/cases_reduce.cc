// Reductions to a scalar.
#include "tests/acle/acle_vectors.h"

namespace svengine::acle::SVENGINE_ACLE_SET {
namespace {

#define ACLE_REDUCE(op)                                  \
  begin<V>(s, #op);                                      \
  each<V>(s, [&](int k, vb p, int at) {                  \
    const V a = svld1(full<V>(), operand<V>(s, 2) + at); \
    put_scalar(s, k, Type<V>::kKind, op(p, a));          \
  })

template <class V>
Element<V> quiet_maxnmv(vb p, V v) {
  return svmaxnmv(p, V(svsel(svcmpuo(p, v, v), not_a_number<V>(), v)));
}
template <class V>
Element<V> quiet_minnmv(vb p, V v) {
  return svminnmv(p, V(svsel(svcmpuo(p, v, v), not_a_number<V>(), v)));
}

template <class V>
void floats(Sink* s) {
  ACLE_REDUCE(svaddv);
  ACLE_REDUCE(svmaxv);
  ACLE_REDUCE(svminv);
  if (kBits == 512) {  // signalling NaNs are AVX2's exception (see arm_sve.h)
    ACLE_REDUCE(svmaxnmv);
    ACLE_REDUCE(svminnmv);
  }
  ACLE_REDUCE(quiet_maxnmv);
  ACLE_REDUCE(quiet_minnmv);
  begin<V>(s, "svadda");
  each<V>(s, [&](int k, vb p, int at) {
    const V a = svld1(full<V>(), operand<V>(s, 2) + at);
    put_scalar(s, k, Type<V>::kKind, svadda(p, operand<V>(s, 1)[at], a));
  });
}
template <class V>
void integers(Sink* s) {
  ACLE_REDUCE(svaddv);
  ACLE_REDUCE(svmaxv);
  ACLE_REDUCE(svminv);
  ACLE_REDUCE(svandv);
  ACLE_REDUCE(svorv);
  ACLE_REDUCE(sveorv);
}

}  // namespace

void cases_reduce(Sink* s) {
  floats<v_f32>(s);
  floats<v_f64>(s);
  integers<v_s8>(s);
  integers<v_u8>(s);
  integers<v_s16>(s);
  integers<v_u16>(s);
  integers<v_s32>(s);
  integers<v_u32>(s);
  integers<v_s64>(s);
  integers<v_u64>(s);
}

}  // namespace svengine::acle::SVENGINE_ACLE_SET
