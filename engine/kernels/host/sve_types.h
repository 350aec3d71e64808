// Vector types of the host ACLE and the traits its templates select by.
#pragma once
// GCC 12's own header warns about its deliberately undefined vectors once they are inlined (GCC bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#include <stdint.h>

// Vectors have one length here: the attribute that fixes the length of SVE's types has nothing to do.
#define arm_sve_vector_bits(bits)

// Every function below disappears into its caller; none may leave a symbol in an object file.
#define SVE_FN static inline __attribute__((always_inline))

#define SVE_VECTOR __attribute__((vector_size(__ARM_FEATURE_SVE_BITS / 8)))
typedef int8_t svint8_t SVE_VECTOR;
typedef uint8_t svuint8_t SVE_VECTOR;
typedef int16_t svint16_t SVE_VECTOR;
typedef uint16_t svuint16_t SVE_VECTOR;
typedef int32_t svint32_t SVE_VECTOR;
typedef uint32_t svuint32_t SVE_VECTOR;
typedef int64_t svint64_t SVE_VECTOR;
typedef uint64_t svuint64_t SVE_VECTOR;
typedef float svfloat32_t SVE_VECTOR;
typedef double svfloat64_t SVE_VECTOR;
// Half precision exists only as a format of 16-bit containers: converted to and from, never computed with.
struct svfloat16_t {
  svuint16_t bits;
};

enum svprfop {
  SV_PLDL1KEEP,
  SV_PLDL1STRM,
  SV_PLDL2KEEP,
  SV_PLDL2STRM,
  SV_PLDL3KEEP,
  SV_PLDL3STRM,
  SV_PSTL1KEEP = 8,
  SV_PSTL1STRM,
  SV_PSTL2KEEP,
  SV_PSTL2STRM,
  SV_PSTL3KEEP,
  SV_PSTL3STRM
};

namespace sve_host {

inline constexpr int kBytes = __ARM_FEATURE_SVE_BITS / 8;

template <class V>
struct Traits;  // of a vector: its element, and the vectors of integers of the same width
template <class T>
struct VectorOf;  // of an element: its vector
#define SVE_TRAITS(vector, element, signed_vector, unsigned_vector) \
  template <>                                                       \
  struct Traits<vector> {                                           \
    using Element = element;                                        \
    using Signed = signed_vector;                                   \
    using Unsigned = unsigned_vector;                               \
  };                                                                \
  template <>                                                       \
  struct VectorOf<element> {                                        \
    using Type = vector;                                            \
  };
SVE_TRAITS(svint8_t, int8_t, svint8_t, svuint8_t)
SVE_TRAITS(svuint8_t, uint8_t, svint8_t, svuint8_t)
SVE_TRAITS(svint16_t, int16_t, svint16_t, svuint16_t)
SVE_TRAITS(svuint16_t, uint16_t, svint16_t, svuint16_t)
SVE_TRAITS(svint32_t, int32_t, svint32_t, svuint32_t)
SVE_TRAITS(svuint32_t, uint32_t, svint32_t, svuint32_t)
SVE_TRAITS(svint64_t, int64_t, svint64_t, svuint64_t)
SVE_TRAITS(svuint64_t, uint64_t, svint64_t, svuint64_t)
SVE_TRAITS(svfloat32_t, float, svint32_t, svuint32_t)
SVE_TRAITS(svfloat64_t, double, svint64_t, svuint64_t)
#undef SVE_TRAITS

template <int kWidth>
struct SignedOf;  // width in bytes: the vector of signed integers
template <>
struct SignedOf<1> {
  using Type = svint8_t;
};
template <>
struct SignedOf<2> {
  using Type = svint16_t;
};
template <>
struct SignedOf<4> {
  using Type = svint32_t;
};
template <>
struct SignedOf<8> {
  using Type = svint64_t;
};

template <class V>
using Element = typename Traits<V>::Element;
template <class V>
using Signed = typename Traits<V>::Signed;
template <class V>
using Unsigned = typename Traits<V>::Unsigned;
template <class T>
using VectorFor = typename VectorOf<T>::Type;

template <class A, class B>
inline constexpr bool kSame = false;
template <class A>
inline constexpr bool kSame<A, A> = true;

template <class V>
inline constexpr int kWidth = sizeof(Element<V>);  // bytes of an element
template <class V>
inline constexpr int kCount = kBytes / kWidth<V>;  // elements of a vector

template <class V>
concept Vector = requires {
  typename Traits<V>::Element;
};
template <class V>
concept FloatVector = kSame<V, svfloat32_t> || kSame<V, svfloat64_t>;
template <class V>
concept IntegerVector = Vector<V> && !FloatVector<V>;
template <class V>
concept SignedVector = IntegerVector<V> && kSame<V, Signed<V>>;
template <class V>
concept UnsignedVector = IntegerVector<V> && kSame<V, Unsigned<V>>;
template <class V>
concept WideIntegerVector = IntegerVector<V> && kWidth<V>
>= 4;
template <class T>
concept Scalar = requires {
  typename VectorOf<T>::Type;
};

// N elements of T, as a vector of just that size: what extending loads and narrowing stores move.
template <class T, int N>
struct Packed {
  typedef T Type __attribute__((vector_size(sizeof(T) * N)));
  typedef T Unaligned __attribute__((vector_size(sizeof(T) * N), aligned(1), may_alias));
};

// Constant index vectors, known to the compiler at every optimisation level. Of two vectors' elements a (0..n-1) and b
// (n..2n-1):
enum class Order { kIota, kReverse, kZip1, kZip2, kUnzip1, kUnzip2, kTranspose1, kTranspose2 };
constexpr int order_at(Order order, int i, int n) {
  switch (order) {
    case Order::kIota:
      return i;
    case Order::kReverse:
      return n - 1 - i;
    case Order::kZip1:
      return i / 2 + i % 2 * n;
    case Order::kZip2:
      return n / 2 + i / 2 + i % 2 * n;
    case Order::kUnzip1:
      return 2 * i;
    case Order::kUnzip2:
      return 2 * i + 1;
    case Order::kTranspose1:
      return i - i % 2 + i % 2 * n;
    case Order::kTranspose2:
      return i - i % 2 + i % 2 * n + 1;
  }
  return 0;
}
template <int... kI>
struct Sequence {};
template <Order kOrder, Vector V, int... kI>
SVE_FN V order_of(Sequence<kI...>) {
  return V{Element<V>(order_at(kOrder, kI, sizeof...(kI)))...};
}
template <Order kOrder, Vector V>
SVE_FN V order() {
  return order_of<kOrder, V>(Sequence<__integer_pack(kCount<V>)...>{});
}
template <Vector V>
SVE_FN V iota() {  // 0, 1, 2, ...
  return order<Order::kIota, V>();
}

// A floating-point bound that the compiler knows: not NaN, +0, -0. x86's own maximum and minimum return their second
// operand when one is NaN or both are zero, so that against a known number only one of the zeros needs care.
template <class T>
SVE_FN bool known_number(T s) {
  return __builtin_constant_p(s) && s == s;
}
template <class T>
SVE_FN bool known_positive_zero(T s) {
  return __builtin_constant_p(s) && s == 0 && !__builtin_signbit(s);
}
template <class T>
SVE_FN bool known_negative_zero(T s) {
  return __builtin_constant_p(s) && s == 0 && __builtin_signbit(s);
}
enum class Compare { kEq, kNe, kLt, kLe, kGt, kGe, kUnordered };
enum class Round { kNearestEven, kDown, kUp, kZero, kCurrent };

}  // namespace sve_host
