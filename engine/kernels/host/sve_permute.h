// Host ACLE: moving elements between lanes.
#pragma once
#include "sve_types.h"

namespace sve_host {

template <Vector V>
SVE_FN V shuffle(V v, Signed<V> index) {  // index modulo the element count
  return __builtin_shuffle(v, index);
}
template <Vector V>
SVE_FN V shuffle(V a, V b, Signed<V> index) {  // of both vectors' elements, modulo twice the element count
  return __builtin_shuffle(a, b, index);
}
template <Vector V>
SVE_FN V select_elements(V v, Unsigned<V> index) {  // zero where the index is out of range
  return sel(compare<Compare::kLt>(index, dup<Unsigned<V>>(kCount<V>)), shuffle(v, (Signed<V>)index), V{});
}
template <Vector V>
SVE_FN int last_active(svbool_t p) {  // -1 without one
  const uint64_t bits = predicate_bits<kCount<V>>(p);
  return bits ? 63 - __builtin_clzll(bits) : -1;
}

}  // namespace sve_host

#define SVE_PERMUTE(name, order_name)                                                                    \
  template <sve_host::Vector V>                                                                          \
  SVE_FN V name(V a, V b) {                                                                              \
    return sve_host::shuffle(a, b, sve_host::order<sve_host::Order::order_name, sve_host::Signed<V>>()); \
  }
SVE_PERMUTE(svzip1, kZip1)
SVE_PERMUTE(svzip2, kZip2)
SVE_PERMUTE(svuzp1, kUnzip1)
SVE_PERMUTE(svuzp2, kUnzip2)
SVE_PERMUTE(svtrn1, kTranspose1)
SVE_PERMUTE(svtrn2, kTranspose2)
#undef SVE_PERMUTE

template <sve_host::Vector V>
SVE_FN V svrev(V v) {
  return sve_host::shuffle(v, sve_host::order<sve_host::Order::kReverse, sve_host::Signed<V>>());
}
// Elements first, first + 1, ... of a, then b's from its start.
template <sve_host::Vector V>
SVE_FN V svext(V a, V b, uint64_t first) {
  using I = sve_host::Signed<V>;
  return sve_host::shuffle(a, b, sve_host::iota<I>() + sve_host::dup<I>(sve_host::Element<I>(first)));
}
template <sve_host::Vector V>
SVE_FN V svtbl(V v, sve_host::Unsigned<V> index) {
  return sve_host::select_elements(v, index);
}
template <sve_host::Vector V>
SVE_FN V svdup_lane(V v, sve_host::Element<sve_host::Unsigned<V>> index) {
  return sve_host::select_elements(v, sve_host::dup<sve_host::Unsigned<V>>(index));
}

// The last active element, and the one after it (cyclically); without an active one, the last and the first of the
// vector.
template <sve_host::Vector V>
SVE_FN sve_host::Element<V> svlastb(svbool_t p, V v) {
  const int last = sve_host::last_active<V>(p);
  return v[last < 0 ? sve_host::kCount<V> - 1 : last];
}
template <sve_host::Vector V>
SVE_FN sve_host::Element<V> svlasta(svbool_t p, V v) {
  return v[(sve_host::last_active<V>(p) + 1) % sve_host::kCount<V>];
}

// Active elements moved together at the start, zeros after them.
template <sve_host::Vector V>
requires(sve_host::kWidth<V> >= 4) SVE_FN V svcompact(svbool_t p, V v) { return sve_host::compact(p, v); }
// The elements from the first active one to the last, then b's from its start.
template <sve_host::Vector V>
SVE_FN V svsplice(svbool_t p, V a, V b) {
  using I = sve_host::Signed<V>;
  using E = sve_host::Element<I>;
  constexpr int kCount = sve_host::kCount<V>;
  const uint64_t bits = sve_host::predicate_bits<kCount>(p);
  const int first = bits ? __builtin_ctzll(bits) : 0, length = sve_host::last_active<V>(p) + 1 - first;
  const I lane = sve_host::iota<I>();
  const I from_a = lane + sve_host::dup<I>(E(first)), from_b = lane + sve_host::dup<I>(E(kCount - length));
  return sve_host::shuffle(a, b, sve_host::sel(sve_host::predicate_below<kCount>(uint64_t(length)), from_a, from_b));
}
