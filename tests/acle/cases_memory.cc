// Loads and stores. Memory ends at a page that faults: an access by an inactive lane ends the program.
#include "tests/acle/acle_vectors.h"

namespace svengine::acle::SVENGINE_ACLE_SET {
namespace {

// Room for `count` elements of T just before the faulting page.
template <class T>
T* last(const Sink* s, int count) {
  return (T*)s->operands->guarded_end - count;
}
template <class T>
T pattern(int i) {
  return T(uint64_t(i + 1) * 0x9e3779b97f4a7c15u >> 7);
}

template <class V>
void contiguous(Sink* s) {
  using T = Element<V>;
  begin<V>(s, "svld1 svst1");
  for (int k = 0; k < kPredicates<V>; ++k) {
    const vb p = predicate<V>(k);
    const int room = k <= kCount<V> ? k : kCount<V>;
    T* memory = last<T>(s, room);
    for (int i = 0; i < room; ++i) memory[i] = operand<V>(s, 0)[i];
    put<V>(s, k, full<V>(), svld1(p, memory));
    put<V>(s, k, full<V>(), svldnt1(p, memory));
    svst1(p, memory, svld1(full<V>(), operand<V>(s, 1)));
    for (int i = 0; i < room; ++i) put_scalar<T>(s, k, Type<V>::kKind, memory[i]);
    svstnt1(p, memory, svld1(full<V>(), operand<V>(s, 2)));
    for (int i = 0; i < room; ++i) put_scalar<T>(s, k, Type<V>::kKind, memory[i]);
    svprfb(p, memory, SV_PLDL1KEEP);
    svprfh(p, memory, SV_PLDL2KEEP);
    svprfw(p, memory, SV_PSTL1KEEP);
    svprfd(p, memory, SV_PLDL1STRM);
  }
}

#define ACLE_EXTEND(load, vector, memory_type)                            \
  {                                                                       \
    using V = v_##vector;                                                 \
    begin<V>(s, #load);                                                   \
    for (int k = 0; k < kPredicates<V>; ++k) {                            \
      const int room = k <= kCount<V> ? k : kCount<V>;                    \
      memory_type* memory = last<memory_type>(s, room);                   \
      for (int i = 0; i < room; ++i) memory[i] = pattern<memory_type>(i); \
      put<V>(s, k, full<V>(), load##_##vector(predicate<V>(k), memory));  \
    }                                                                     \
  }
void extending(Sink* s) {
  ACLE_EXTEND(svld1ub, s32, uint8_t)
  ACLE_EXTEND(svld1ub, u32, uint8_t)
  ACLE_EXTEND(svld1sb, s32, int8_t)
  ACLE_EXTEND(svld1sb, u32, int8_t)
  ACLE_EXTEND(svld1uh, s32, uint16_t)
  ACLE_EXTEND(svld1uh, u32, uint16_t)
  ACLE_EXTEND(svld1sh, s32, int16_t)
  ACLE_EXTEND(svld1sh, u32, int16_t)
  ACLE_EXTEND(svld1uw, s64, uint32_t)
  ACLE_EXTEND(svld1uw, u64, uint32_t)
  ACLE_EXTEND(svld1sw, s64, int32_t)
  ACLE_EXTEND(svld1sw, u64, int32_t)
}

#define ACLE_NARROW(store, vector, memory_type)                                                \
  {                                                                                            \
    using V = v_##vector;                                                                      \
    begin<V>(s, #store);                                                                       \
    for (int k = 0; k < kPredicates<V>; ++k) {                                                 \
      const int room = k <= kCount<V> ? k : kCount<V>;                                         \
      memory_type* memory = last<memory_type>(s, room);                                        \
      for (int i = 0; i < room; ++i) memory[i] = pattern<memory_type>(i);                      \
      store(predicate<V>(k), memory, svld1(full<V>(), operand<V>(s, 0) + 400));                \
      for (int i = 0; i < room; ++i) put_scalar<memory_type>(s, k, Kind::kInteger, memory[i]); \
    }                                                                                          \
  }
void narrowing(Sink* s) {
  ACLE_NARROW(svst1b, s32, int8_t)
  ACLE_NARROW(svst1b, u32, uint8_t)
  ACLE_NARROW(svst1h, s32, int16_t)
  ACLE_NARROW(svst1h, u32, uint16_t)
  ACLE_NARROW(svst1w, s64, int32_t)
  ACLE_NARROW(svst1w, u64, uint32_t)
}

// Active lanes go over 80 elements before the faulting page, inactive ones point far behind it. `collide`: two lanes an
// address.
template <class V, class I>
void indexed(Sink* s, const char* name) {
  using T = Element<V>;
  using Index = Element<I>;
  constexpr int kRoom = 80;
  begin<V>(s, name);
  for (int k = 0; k < kPredicates<V>; ++k) {
    const vb p = predicate<V>(k);
    for (int collide = 1; collide <= 2; ++collide) {
      Index index[kCount<V>], offset[kCount<V>];
      Element<I> active[kCount<V>] = {}, ones[kCount<V>];
      for (int i = 0; i < kCount<V>; ++i) ones[i] = 1;
      svst1(p, active, svld1(full<I>(), ones));
      for (int i = 0; i < kCount<V>; ++i) {
        index[i] = active[i] ? Index(kRoom - 1 - i / collide * 7 % kRoom) : Index(1 << 28);
        offset[i] = Index(index[i] * Index(sizeof(T)));
      }
      const I at = svld1(full<I>(), index), bytes = svld1(full<I>(), offset);
      T* memory = last<T>(s, kRoom);
      for (int i = 0; i < kRoom; ++i) memory[i] = operand<V>(s, 0)[i];
      put<V>(s, k, full<V>(), svld1_gather_index(p, memory, at));
      put<V>(s, k, full<V>(), svld1_gather_offset(p, memory, bytes));
      svst1_scatter_index(p, memory, at, V(svld1(full<V>(), operand<V>(s, 1))));
      for (int i = 0; i < kRoom; ++i) put_scalar<T>(s, k, Type<V>::kKind, memory[i]);
      svst1_scatter_offset(p, memory, bytes, V(svld1(full<V>(), operand<V>(s, 2))));
      for (int i = 0; i < kRoom; ++i) put_scalar<T>(s, k, Type<V>::kKind, memory[i]);
    }
  }
}

}  // namespace

void cases_memory(Sink* s) {
  contiguous<v_s8>(s);
  contiguous<v_u8>(s);
  contiguous<v_s16>(s);
  contiguous<v_u16>(s);
  contiguous<v_s32>(s);
  contiguous<v_u32>(s);
  contiguous<v_s64>(s);
  contiguous<v_u64>(s);
  contiguous<v_f32>(s);
  contiguous<v_f64>(s);
  extending(s);
  narrowing(s);
  indexed<v_f32, v_s32>(s, "gather scatter s32");
  indexed<v_f32, v_u32>(s, "gather scatter u32");
  indexed<v_s32, v_s32>(s, "gather scatter s32");
  indexed<v_u32, v_s32>(s, "gather scatter s32");
  indexed<v_f64, v_s64>(s, "gather scatter s64");
  indexed<v_s64, v_s64>(s, "gather scatter s64");
  indexed<v_u64, v_u64>(s, "gather scatter u64");
}

}  // namespace svengine::acle::SVENGINE_ACLE_SET
