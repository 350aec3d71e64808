// Conversions and reinterpretation. Where element widths differ, the predicate is that of the wider element.
#include "tests/acle/acle_vectors.h"

namespace svengine::acle::SVENGINE_ACLE_SET {
namespace {

// Same width: every lane of the result counts.
#define ACLE_CONVERT(to, from)                                     \
  {                                                                \
    using V = v_##from;                                            \
    using R = v_##to;                                              \
    begin<V>(s, "svcvt_" #to);                                     \
    each<V>(s, [&](int k, vb p, int at) {                          \
      const V v = svld1(full<V>(), operand<V>(s, 0) + at);         \
      const R old = svld1(full<R>(), operand<R>(s, 1) + at % 512); \
      put<R>(s, k, p, svcvt_##to##_x(p, v));                       \
      put<R>(s, k, full<R>(), svcvt_##to##_z(p, v));               \
      put<R>(s, k, full<R>(), svcvt_##to##_m(old, p, v));          \
    });                                                            \
  }

// Elements of 32 and of 64 bits: the 32-bit ones that count are the even ones. Predicates are those of 64-bit elements.
#define ACLE_WIDEN(to, from)                                         \
  {                                                                  \
    using V = v_##from;                                              \
    using R = v_##to;                                                \
    begin<V>(s, "svcvt_" #to);                                       \
    for (int k = 0; k < kPredicates<R>; ++k)                         \
      for (int at = 0; at < operand_count<V>(s); at += kCount<V>) {  \
        const vb p = predicate<R>(k);                                \
        const V v = svld1(full<V>(), operand<V>(s, 0) + at);         \
        const R old = svld1(full<R>(), operand<R>(s, 1) + at % 512); \
        put<R>(s, k, p, svcvt_##to##_x(p, v));                       \
        put<R>(s, k, full<R>(), svcvt_##to##_z(p, v));               \
        put<R>(s, k, full<R>(), svcvt_##to##_m(old, p, v));          \
      }                                                              \
  }
// The odd elements of a result are part of their containers: what they hold is not defined for _x.
#define ACLE_NARROW(to, from)                                        \
  {                                                                  \
    using V = v_##from;                                              \
    using R = v_##to;                                                \
    begin<V>(s, "svcvt_" #to);                                       \
    for (int k = 0; k < kPredicates<V>; ++k)                         \
      for (int at = 0; at < operand_count<V>(s); at += kCount<V>) {  \
        const vb p = predicate<V>(k);                                \
        const V v = svld1(full<V>(), operand<V>(s, 0) + at);         \
        const R old = svld1(full<R>(), operand<R>(s, 1) + at % 512); \
        put_even<V, R>(s, k, p, svcvt_##to##_x(p, v));               \
        put_even<V, R>(s, k, full<V>(), svcvt_##to##_z(p, v));       \
        put_even<V, R>(s, k, full<V>(), svcvt_##to##_m(old, p, v));  \
      }                                                              \
  }
template <class V, class R>
void put_even(Sink* s, int k, vb wanted, R v) {
  Element<R> all[kCount<R>], even[kCount<V>] = {};
  Element<typename Type<V>::U> active[kCount<V>] = {};
  svst1(full<R>(), all, v);
  svst1(wanted, active, svdup_u64(1));
  for (int i = 0; i < kCount<V>; ++i)
    if (active[i]) even[i] = all[2 * i];
  s->put(s, k, Type<R>::kKind, sizeof(Element<R>), even, sizeof(even));
}

void half(Sink* s) {
  using V = v_f32;
  begin<V>(s, "svcvt_f16");
  each<V>(s, [&](int k, vb p, int at) {
    const V v = svld1(full<V>(), operand<V>(s, 0) + at);
    const v_u32 old = svld1(full<v_u32>(), operand<v_u32>(s, 1) + at % 512), low = svdup_u32(0xffff);
    const auto put_half = [&](vb wanted, v_u32 bits) {  // NaNs agree in being NaN only
      const v_u32 magnitude = svand_x(full<V>(), bits, 0x7fff);
      put<v_u32>(s, k, wanted, svsel(svcmpgt(full<V>(), magnitude, 0x7c00), svdup_u32(0x7e00), bits));
    };
    put_half(p, svand_x(p, svreinterpret_u32(svcvt_f16_x(p, v)), low));
    put_half(full<V>(), svand_x(full<V>(), svreinterpret_u32(svcvt_f16_z(p, v)), low));
    put_half(full<V>(), svand_x(full<V>(), svreinterpret_u32(svcvt_f16_m(svreinterpret_f16(old), p, v)), low));
  });
  begin<v_u32>(s, "svcvt_f32 f16");
  for (uint32_t first = 0; first < 0x10000; first += kCount<V>) {  // all there are
    const v_u32 bits = svindex_u32(first, 1);
    put<V>(s, 0, full<V>(), svcvt_f32_x(full<V>(), svreinterpret_f16(bits)));
  }
}

#define ACLE_REINTERPRET(to)                                                                                    \
  put<v_##to>(s, 0, full<v_##to>(), svreinterpret_##to(svreinterpret_f32(svld1(full<V>(), operand<V>(s, 0))))); \
  put<v_##to>(s, 0, full<v_##to>(), svreinterpret_##to(svreinterpret_s64(svld1(full<V>(), operand<V>(s, 1)))))
void reinterpretation(Sink* s) {
  using V = v_u8;
  begin<V>(s, "svreinterpret");
  ACLE_REINTERPRET(s8);
  ACLE_REINTERPRET(u8);
  ACLE_REINTERPRET(s16);
  ACLE_REINTERPRET(u16);
  ACLE_REINTERPRET(s32);
  ACLE_REINTERPRET(u32);
  ACLE_REINTERPRET(s64);
  ACLE_REINTERPRET(u64);
}

}  // namespace

void cases_convert(Sink* s) {
  ACLE_CONVERT(f32, s32)
  ACLE_CONVERT(f32, u32)
  ACLE_CONVERT(s32, f32)
  ACLE_CONVERT(u32, f32)
  ACLE_CONVERT(f64, s64)
  ACLE_CONVERT(f64, u64)
  ACLE_CONVERT(s64, f64)
  ACLE_WIDEN(f64, f32)
  ACLE_WIDEN(f64, s32)
  ACLE_NARROW(f32, f64)
  ACLE_NARROW(s32, f64)
  half(s);
  reinterpretation(s);
}

}  // namespace svengine::acle::SVENGINE_ACLE_SET
