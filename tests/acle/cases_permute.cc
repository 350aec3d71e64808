// Moving elements between lanes.
#include "tests/acle/acle_vectors.h"

namespace svengine::acle::SVENGINE_ACLE_SET {
namespace {

#define ACLE_PERMUTE(op) each_binary<V>(s, #op, Lanes::kAll, [](vb, V a, V b) -> V { return op(a, b); })
template <class V>
void fixed_orders(Sink* s) {
  ACLE_PERMUTE(svzip1);
  ACLE_PERMUTE(svzip2);
  ACLE_PERMUTE(svuzp1);
  ACLE_PERMUTE(svuzp2);
  ACLE_PERMUTE(svtrn1);
  ACLE_PERMUTE(svtrn2);
  each_binary<V>(s, "svrev", Lanes::kAll, [](vb, V a, V) -> V { return svrev(a); });
  each_binary<V>(s, "svext 0", Lanes::kAll, [](vb, V a, V b) -> V { return svext(a, b, 0); });
  each_binary<V>(s, "svext 1", Lanes::kAll, [](vb, V a, V b) -> V { return svext(a, b, 1); });
  each_binary<V>(s, "svext 3", Lanes::kAll, [](vb, V a, V b) -> V { return svext(a, b, 3); });
  each_binary<V>(s, "svext n-1", Lanes::kAll, [](vb, V a, V b) -> V { return svext(a, b, kCount<V> - 1); });
}

template <class V>
void tables(Sink* s) {
  using U = typename Type<V>::U;
  begin<V>(s, "svtbl");
  const int count = operand_count<U>(s);
  for (int at = 0; at < count; at += kCount<V>) {
    const V v = svld1(full<V>(), operand<V>(s, 0) + at);
    const U random = svld1(full<U>(), operand<U>(s, 1) + at);
    put<V>(s, 0, full<V>(), svtbl(v, random));
    put<V>(s, 0, full<V>(), svtbl(v, U(svand_x(full<U>(), random, Element<U>(kCount<V> - 1)))));
    put<V>(s, 0, full<V>(), svtbl(v, U(svand_x(full<U>(), random, Element<U>(2 * kCount<V> - 1)))));
  }
  begin<V>(s, "svdup_lane");
  const V v = svld1(full<V>(), operand<V>(s, 0));
  for (int lane = 0; lane <= kCount<V> + 1; ++lane) put<V>(s, 0, full<V>(), svdup_lane(v, Element<U>(lane)));
  put<V>(s, 0, full<V>(), svdup_lane(v, 1));
}

template <class V>
void by_predicate(Sink* s) {
  begin<V>(s, "svlasta svlastb");
  each<V>(s, [&](int k, vb p, int at) {
    const V a = svld1(full<V>(), operand<V>(s, 0) + at);
    put_scalar<Element<V>>(s, k, Type<V>::kKind, svlasta(p, a));
    put_scalar<Element<V>>(s, k, Type<V>::kKind, svlastb(p, a));
  });
  each_binary<V>(s, "svsplice", Lanes::kAll, [](vb p, V a, V b) -> V { return svsplice(p, a, b); });
  if constexpr (Type<V>::kLogWidth >= 2)
    each_binary<V>(s, "svcompact", Lanes::kAll, [](vb p, V a, V) -> V { return svcompact(p, a); });
}

template <class V>
void all(Sink* s) {
  fixed_orders<V>(s);
  tables<V>(s);
  by_predicate<V>(s);
}

}  // namespace

void cases_permute(Sink* s) {
  all<v_u8>(s);
  all<v_s16>(s);
  all<v_s32>(s);
  all<v_u32>(s);
  all<v_s64>(s);
  all<v_u64>(s);
  all<v_f32>(s);
  all<v_f64>(s);
}

}  // namespace svengine::acle::SVENGINE_ACLE_SET
