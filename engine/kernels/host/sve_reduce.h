// Host ACLE: reductions of a vector to a scalar.
//
// svaddv of floating point adds neighbours, then neighbouring sums, and so on, as FADDV does: ((v0+v1)+(v2+v3))+...
// with +0 in inactive lanes. svadda adds one after the other.
#pragma once
#include "sve_permute.h"

namespace sve_host {

template <int kDistance, Vector V, class Op>
SVE_FN Element<V> reduce_from(V v, Op op) {
  if constexpr (kDistance == kCount<V>) {
    return v[0];
  } else {
    const Signed<V> partner = iota<Signed<V>>() ^ Signed<V>(dup<Signed<V>>(kDistance));
    return reduce_from<2 * kDistance>(op(v, shuffle(v, partner)), op);
  }
}
template <Vector V, class Op>
SVE_FN Element<V> reduce(V v, Op op) {
  return reduce_from<1>(v, op);
}

#define SVE_OPERATION(Name, op)                                   \
  struct Name {                                                   \
    template <Vector V>                                           \
    __attribute__((always_inline)) V operator()(V a, V b) const { \
      return op(a, b);                                            \
    }                                                             \
  };
SVE_OPERATION(Add, add)
SVE_OPERATION(Larger, larger)
SVE_OPERATION(Smaller, smaller)
SVE_OPERATION(MaxOrNan, max_or_nan)
SVE_OPERATION(MinOrNan, min_or_nan)
SVE_OPERATION(MaxNumber, max_number)
SVE_OPERATION(MinNumber, min_number)
SVE_OPERATION(And, bit_and)
SVE_OPERATION(Or, bit_or)
SVE_OPERATION(Xor, bit_xor)
#undef SVE_OPERATION

template <IntegerVector Wide, IntegerVector V>
SVE_FN Element<Wide> sum_elements(V v) {
  if constexpr (kWidth<V> == 8) {
    return reduce(v, Add{});
  } else if constexpr (kWidth<V> == 4) {  // the odd elements of the 64-bit containers, and the even ones
    const Wide pairs = (Wide)v;
    return reduce(add(pairs >> 32, ((Wide)((svuint64_t)pairs << 32)) >> 32), Add{});
  } else {
    Element<Wide> sum = 0;
    for (int i = 0; i < kCount<V>; ++i) sum += v[i];
    return sum;
  }
}

template <Vector V>
inline constexpr Element<V> kLowest = SignedVector<V> ? Element<V>(Element<Unsigned<V>>(1) << (kWidth<V> * 8 - 1))
                                                      : Element<V>(0);
template <>
inline constexpr float kLowest<svfloat32_t> = -__builtin_inff();
template <>
inline constexpr double kLowest<svfloat64_t> = -__builtin_inf();
template <Vector V>
inline constexpr Element<V> kHighest = Element<V>(~kLowest<V>);
template <>
inline constexpr float kHighest<svfloat32_t> = __builtin_inff();
template <>
inline constexpr double kHighest<svfloat64_t> = __builtin_inf();

}  // namespace sve_host

template <sve_host::FloatVector V>
SVE_FN sve_host::Element<V> svaddv(svbool_t p, V v) {
  return sve_host::reduce(sve_host::sel(p, v, V{}), sve_host::Add{});
}
template <sve_host::FloatVector V>
SVE_FN sve_host::Element<V> svadda(svbool_t p, sve_host::Element<V> start, V v) {
  const uint64_t bits = sve_host::predicate_bits<sve_host::kCount<V>>(p);
  for (int i = 0; i < sve_host::kCount<V>; ++i)
    if (bits >> i & 1) start += v[i];
  return start;
}
// Integer sums have 64 bits.
template <sve_host::SignedVector V>
SVE_FN int64_t svaddv(svbool_t p, V v) {
  return sve_host::sum_elements<svint64_t>(sve_host::sel(p, v, V{}));
}
template <sve_host::UnsignedVector V>
SVE_FN uint64_t svaddv(svbool_t p, V v) {
  return sve_host::sum_elements<svuint64_t>(sve_host::sel(p, v, V{}));
}

#define SVE_REDUCE(name, constraint, Operation, neutral)                                            \
  template <sve_host::constraint V>                                                                 \
  SVE_FN sve_host::Element<V> name(svbool_t p, V v) {                                               \
    return sve_host::reduce(sve_host::sel(p, v, sve_host::dup<V>(neutral)), sve_host::Operation{}); \
  }
SVE_REDUCE(svmaxv, IntegerVector, Larger, sve_host::kLowest<V>)
SVE_REDUCE(svminv, IntegerVector, Smaller, sve_host::kHighest<V>)
SVE_REDUCE(svmaxv, FloatVector, MaxOrNan, sve_host::kLowest<V>)
SVE_REDUCE(svminv, FloatVector, MinOrNan, sve_host::kHighest<V>)
SVE_REDUCE(svmaxnmv, FloatVector, MaxNumber, sve_host::Element<V>(__builtin_nan("")))
SVE_REDUCE(svminnmv, FloatVector, MinNumber, sve_host::Element<V>(__builtin_nan("")))
SVE_REDUCE(svandv, IntegerVector, And, sve_host::Element<V>(-1))
SVE_REDUCE(svorv, IntegerVector, Or, sve_host::Element<V>(0))
SVE_REDUCE(sveorv, IntegerVector, Xor, sve_host::Element<V>(0))
#undef SVE_REDUCE
