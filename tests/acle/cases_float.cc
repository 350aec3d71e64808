// Floating-point arithmetic, rounding, scaling, estimates.
#include "tests/acle/acle_vectors.h"

namespace svengine::acle::SVENGINE_ACLE_SET {
namespace {

// svmaxnm and svminnm of quiet NaNs: signalling ones are AVX2's exception (see arm_sve.h).
template <class V>
V quiet(V v) {
  return svsel(svcmpuo(full<V>(), v, v), not_a_number<V>(), v);
}
inline float quiet(float v) { return v == v ? v : __builtin_nanf(""); }
inline double quiet(double v) { return v == v ? v : __builtin_nan(""); }
#define ACLE_QUIET(form)                                                       \
  template <class V, class B>                                                  \
  inline __attribute__((always_inline)) V quiet_maxnm_##form(vb p, V a, B b) { \
    return svmaxnm_##form(p, quiet(a), quiet(b));                              \
  }                                                                            \
  template <class V, class B>                                                  \
  inline __attribute__((always_inline)) V quiet_minnm_##form(vb p, V a, B b) { \
    return svminnm_##form(p, quiet(a), quiet(b));                              \
  }
ACLE_QUIET(x)
ACLE_QUIET(m)
ACLE_QUIET(z)

template <class V>
void arithmetic(Sink* s) {
  ACLE_BINARY(svadd);
  ACLE_BINARY(svsub);
  ACLE_BINARY(svsubr);
  ACLE_BINARY(svmul);
  ACLE_BINARY(svdiv);
  ACLE_BINARY(svdivr);
  ACLE_BINARY(svabd);
  ACLE_BINARY(svmax);
  ACLE_BINARY(svmin);
  ACLE_BINARY(quiet_maxnm);
  ACLE_BINARY(quiet_minnm);
  ACLE_UNARY(svneg);
  ACLE_UNARY(svabs);
  ACLE_UNARY(svsqrt);
  ACLE_UNARY(svrintn);
  ACLE_UNARY(svrintm);
  ACLE_UNARY(svrintp);
  ACLE_UNARY(svrintz);
  ACLE_UNARY(svrintx);
  ACLE_UNARY(svrinti);
  ACLE_UNARY(svrinta);
}

template <class V>
void multiply_adds(Sink* s) {
  ACLE_TERNARY(svmla);
  ACLE_TERNARY(svmls);
  ACLE_TERNARY(svmad);
  ACLE_TERNARY(svmsb);
  ACLE_TERNARY(svnmla);
  ACLE_TERNARY(svnmls);
  ACLE_TERNARY(svnmad);
  ACLE_TERNARY(svnmsb);
  // Two roundings where two operations stand: nothing may fuse them.
  each_ternary<V>(s, "svadd_x(svmul_x)", Lanes::kActive,
                  [](vb p, V a, V b, V c) -> V { return svadd_x(p, svmul_x(p, a, b), c); });
}

void multiply_adds_from_memory(Sink* s) {
  using V = v_f32;
  each_ternary<V>(s, "svmla_n_f32_x", Lanes::kActive, [](vb p, V a, V b, V c) -> V {
    const float number = svlasta(svpfalse(), c);
    return svmla_n_f32_x(p, a, b, number);
  });
}

// Bounds that the compiler knows take other instructions on some machines.
template <class V>
void known_bounds(Sink* s) {
#define ACLE_BOUND(op, bound)                            \
  each_unary<V>(s, #op "_x(" #bound ")", Lanes::kActive, \
                [](vb p, V a, V) -> V { return op##_x(p, a, Element<V>(bound)); })
#define ACLE_BOUNDS(op)            \
  ACLE_BOUND(op, 0.0);             \
  ACLE_BOUND(op, -0.0);            \
  ACLE_BOUND(op, 6);               \
  ACLE_BOUND(op, -1.5);            \
  ACLE_BOUND(op, __builtin_inf()); \
  ACLE_BOUND(op, __builtin_nan(""))
  ACLE_BOUNDS(svmax);
  ACLE_BOUNDS(svmin);
  ACLE_BOUNDS(quiet_maxnm);
  ACLE_BOUNDS(quiet_minnm);
}
template <class V>
void signalling_nans(Sink* s) {
  ACLE_BINARY(svmaxnm);
  ACLE_BINARY(svminnm);
  ACLE_BOUNDS(svmaxnm);
  ACLE_BOUNDS(svminnm);
}

void scaling(Sink* s) {
  using V = v_f32;
  const int32_t steps[] = {0,   1,    -1,   23,  -24,  -125, -126,      -127,     127,
                           128, -149, -150, 254, -277, 300,  INT32_MAX, INT32_MIN};
  begin<V>(s, "svscale");
  each<V>(s, [&](int k, vb p, int at) {
    const vb all = full<V>();
    const V a = svld1(all, operand<V>(s, 0) + at);
    int32_t n[kCount<V>];
    for (int i = 0; i < kCount<V>; ++i) n[i] = steps[(at + i * 5 + at / kCount<V>) % 17];
    const v_s32 by = svld1(all, n);
    put<V>(s, k, p, svscale_x(p, a, by));
    put<V>(s, k, all, svscale_z(p, a, by));
    put<V>(s, k, all, svscale_m(p, a, by));
    put<V>(s, k, p, svscale_x(p, a, n[0]));
    put<V>(s, k, all, svscale_z(p, a, n[1]));
    put<V>(s, k, all, svscale_m(p, a, n[2]));
  });
}

// Every interval of the tables, at both ends and inside, for every exponent.
void estimates(Sink* s) {
  using V = v_f32;
  const vb p = full<V>();
  const auto each_bits = [&](auto f) {
    uint32_t bits[kCount<V>];
    for (uint32_t block = 0; block < 512 * 512; block += kCount<V>) {
      for (uint32_t i = 0; i < uint32_t(kCount<V>); ++i) {
        const uint32_t n = block + i;  // sign, exponent, the top eight mantissa bits; the rest varies with them
        bits[i] = n << 14 | (n % 3 == 0 ? 0 : n % 3 == 1 ? 0x3fff : n * 2654435761u >> 18);
      }
      const V v = svreinterpret_f32(svld1(p, bits));
      f(v);
    }
  };
  begin<V>(s, "svrecpe");
  each_bits([&](V v) { put<V>(s, 0, p, svrecpe(v)); });
  begin<V>(s, "svrsqrte");
  each_bits([&](V v) { put<V>(s, 0, p, svrsqrte(v)); });
  each_binary<V>(s, "svrecpe operands", Lanes::kAll, [](vb, V a, V) -> V { return svrecpe(a); });
  each_binary<V>(s, "svrsqrte operands", Lanes::kAll, [](vb, V a, V) -> V { return svrsqrte(a); });
  each_binary<V>(s, "svrecps", Lanes::kAll, [](vb, V a, V b) -> V { return svrecps(a, b); });
  each_binary<V>(s, "svrsqrts", Lanes::kAll, [](vb, V a, V b) -> V { return svrsqrts(a, b); });

  begin<V>(s, "svexpa");
  uint32_t bits[kCount<V>];
  for (uint32_t block = 0; block < 1u << 14; block += kCount<V>) {
    for (uint32_t i = 0; i < uint32_t(kCount<V>); ++i) bits[i] = (block + i) | (block + i) << 14;
    put<V>(s, 0, p, svexpa(svld1(p, bits)));
  }
}

}  // namespace

extern const int kBits;
const int kBits = __ARM_FEATURE_SVE_BITS;

void cases_float(Sink* s) {
  arithmetic<v_f32>(s);
  arithmetic<v_f64>(s);
  multiply_adds<v_f32>(s);
  multiply_adds<v_f64>(s);
  multiply_adds_from_memory(s);
  known_bounds<v_f32>(s);
  known_bounds<v_f64>(s);
  if (kBits == 512) {
    signalling_nans<v_f32>(s);
    signalling_nans<v_f64>(s);
  }
  scaling(s);
  estimates(s);
}

}  // namespace svengine::acle::SVENGINE_ACLE_SET
