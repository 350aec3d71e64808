// Functions of doubles whose chains are long, in lockstep as those of floats are, and activations; the others are plain loops.
#include "engine/kernels/sve/elementwise/unary.h"

#include "engine/kernels/sve/activation/activation.h"
#include "engine/kernels/sve/element.h"
#include "engine/kernels/sve/math/erf_f64.h"
#include "engine/kernels/sve/math/log_f64.h"
#include "engine/kernels/sve/math/trig_f64.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

/// kMany vectors in lockstep.
template <int kMany, class F>
SVENGINE_INLINE void map(const UnaryArgs& args, int64_t begin, int64_t end, const F& f) {
  const double* x = static_cast<const double*>(args.x);
  double* y = static_cast<double*>(args.y);
  const vb all = svptrue_b64();
  int64_t i = begin;
  for (; i + kMany * kLanesOf<double> <= end; i += kMany * kLanesOf<double>) {
    Many<kMany, vd> v;
    SVENGINE_UNROLL
    for (int u = 0; u < kMany; ++u) v.at[u] = svld1(all, x + i + u * kLanesOf<double>);
    v = f(v);
    SVENGINE_UNROLL
    for (int u = 0; u < kMany; ++u) svst1(all, y + i + u * kLanesOf<double>, v.at[u]);
  }
  for (; i < end; i += kLanesOf<double>) {
    const vb p = lanes_below<double>(i, end);
    svst1(p, y + i, f(Many<1, vd>{svld1(p, x + i)}).at[0]);
  }
}

// Below 0 only, so that -0 stays, as NaN does.
template <class V>
SVENGINE_INLINE V elu(V x, const UnaryArgs& args) {
  return vsel_below(x, vdup(0.0), vmul(vexpm1_f64(x), vdup(args.alpha)), x);
}
template <class V>
SVENGINE_INLINE V selu(V x, const UnaryArgs& args) {
  return vsel_below(x, vdup(0.0), vmul(vexpm1_f64(x), vdup(args.beta * args.alpha)), vmul(x, vdup(args.beta)));
}
template <class V>
SVENGINE_INLINE V celu(V x, const UnaryArgs& args) {
  const V scaled = veach([&](vd v) SVENGINE_INLINE_LAMBDA { return vd(svdiv_x(svptrue_b64(), v, vdup(args.alpha))); }, x);
  return vsel_below(x, vdup(0.0), vmul(vexpm1_f64(scaled), vdup(args.alpha)), x);
}
template <class V>
SVENGINE_INLINE V thresholded_relu(V x, const UnaryArgs& args) {
  return veach([&](vd v) SVENGINE_INLINE_LAMBDA { return vd(svsel(svcmpgt(svptrue_b64(), v, vdup(args.alpha)), v, vdup(0.0))); }, x);
}
/// Both sides are held below 2^60: 1 + |x| is |x| there. Infinities, which the formula divides by each other, become NaN by x - x.
template <class V>
SVENGINE_INLINE V softsign(V x) {
  const V a = vmin(vabs(x), 0x1p60);
  return vwith_sign_of(vdiv_f64(a, vadd(vadd(a, vdup(1.0)), vsub(x, x))), x);
}
/// x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2), which is 1 from 20 on.
template <class V>
SVENGINE_INLINE V mish(V x) {
  const V e = vexp_f64(vmin(x, 20.0)), n = vmul(e, vadd(e, vdup(2.0)));
  return vmul(x, vdiv_f64(n, vadd(n, vdup(2.0))));
}

/// Of x, a vector or Many of them, and args: a copy, which stores to y cannot change.
template <auto F, int kMany = 4>
void loop(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  const UnaryArgs local = args;
  map<kMany>(args, begin, end, [&local](auto x) SVENGINE_INLINE_LAMBDA { return F(x, local); });
}
#define SVENGINE_VECTORS(result) [](auto x, [[maybe_unused]] const UnaryArgs& args) SVENGINE_INLINE_LAMBDA { return result; }
#define SVENGINE_LOOP(result) loop<SVENGINE_VECTORS(result)>
#define SVENGINE_LOOP_OF_TWO(result) loop<SVENGINE_VECTORS(result), 2>  // where A64FX has no registers for more

/// x beyond what is reduced in vectors is the C library's, one by one; a result never depends on its neighbours.
template <Circular kFunction>
void circular(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  constexpr int64_t kChunk = 256;
  const double* x = static_cast<const double*>(args.x);
  double* y = static_cast<double*>(args.y);
  for (int64_t first = begin; first < end; first += kChunk) {
    const int64_t last = first + kChunk < end ? first + kChunk : end;
    double kept[kChunk];  // y may be x
    bool large = false;
    for (int64_t i = first; i < last; ++i) large |= __builtin_fabs(x[i]) > kReducedLimitF64;
    if (large) __builtin_memcpy(kept, x + first, size_t(last - first) * sizeof(double));
    map<2>(args, first, last, [](auto v) SVENGINE_INLINE_LAMBDA { return vcircular_f64<kFunction>(v); });
    for (int64_t i = first; large && i < last; ++i) {
      const double argument = kept[i - first];
      if (!(__builtin_fabs(argument) > kReducedLimitF64)) continue;
      y[i] = kFunction == Circular::kSin ? __builtin_sin(argument) : kFunction == Circular::kCos ? __builtin_cos(argument) : __builtin_tan(argument);
    }
  }
}

/// What other kernels can end in, too. Plain loops do for Relu, and for Clip, whose bounds need not be floats here.
template <Activation kKind>
UnaryFunction find_fused() {
  if constexpr (kKind == Activation::kRelu || kKind == Activation::kClip) return nullptr;
  else return loop<SVENGINE_VECTORS((apply_activation_f64<kKind>(x, ActivationArgs{kKind, float(args.alpha), float(args.beta)}))),
                   kKind == Activation::kGelu || kKind == Activation::kGeluTanh ? 2 : 4>;
}

}  // namespace

UnaryFunction find_unary_f64(UnaryOp op) noexcept {
  switch (op) {
    case UnaryOp::kExp: return SVENGINE_LOOP(vexp_f64(x));
    case UnaryOp::kLog: return SVENGINE_LOOP_OF_TWO(vlog_f64(x));
    case UnaryOp::kSin: return circular<Circular::kSin>;
    case UnaryOp::kCos: return circular<Circular::kCos>;
    case UnaryOp::kTan: return circular<Circular::kTan>;
    case UnaryOp::kErf: return SVENGINE_LOOP_OF_TWO(verf_f64(x));
#define SVENGINE_FUSED_ACTIVATION(Name, ...) \
  case UnaryOp::k##Name: return find_fused<Activation::k##Name>();
#include "engine/kernels/activation.inc"
    case UnaryOp::kSoftplus: return SVENGINE_LOOP_OF_TWO(vsoftplus_f64(x));
    case UnaryOp::kElu: return SVENGINE_LOOP(elu(x, args));
    case UnaryOp::kSelu: return SVENGINE_LOOP(selu(x, args));
    case UnaryOp::kCelu: return SVENGINE_LOOP(celu(x, args));
    case UnaryOp::kThresholdedRelu: return SVENGINE_LOOP(thresholded_relu(x, args));
    case UnaryOp::kSoftsign: return SVENGINE_LOOP(softsign(x));
    case UnaryOp::kMish: return SVENGINE_LOOP(mish(x));
    default: return nullptr;
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
