// Functions of float32.
#include "engine/kernels/sve/elementwise/unary.h"

#include "engine/kernels/sve/activation/activation.h"
#include "engine/kernels/sve/elementwise/loop.h"
#include "engine/kernels/sve/math/math.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

SVENGINE_INLINE vf magnitude(vf x) { return vabs(x); }
SVENGINE_INLINE vf negative(vf x) { return vneg(x); }
SVENGINE_INLINE vf floor(vf x) { return svrintm_x(svptrue_b32(), x); }
SVENGINE_INLINE vf ceil(vf x) { return svrintp_x(svptrue_b32(), x); }
SVENGINE_INLINE vf sign(vf x) {
  return vsel(vgt(x, vdup(0.0f)), vdup(1.0f), vsel(vlt(x, vdup(0.0f)), vdup(-1.0f), vadd(x, x)));  // zeros and NaN stay; so no flushed denormal does
}
/// Both sides are held below 2^60: 1 + |x| is |x| there, and the division stays within normal numbers. Infinities,
/// which the formula divides by each other, become NaN by x - x.
SVENGINE_INLINE vf softsign(vf x) {
  const vf a = vmin(vabs(x), 0x1p60f);
  return vwith_sign(vdiv_normal(a, vadd(vadd(a, vdup(1.0f)), vsub(x, x))), x);
}
SVENGINE_INLINE vf thresholded_relu(vf x, const UnaryArgs& args) { return vsel(vgt(x, vdup(float(args.alpha))), x, vdup(0.0f)); }
// Below 0 only, so that -0 stays, as NaN does.
SVENGINE_INLINE vf elu(vf x, const UnaryArgs& args) {
  return vsel(vlt(x, vdup(0.0f)), vmul(vdup(float(args.alpha)), vexpm1(x)), x);
}
SVENGINE_INLINE vf selu(vf x, const UnaryArgs& args) {
  return vsel(vlt(x, vdup(0.0f)), vmul(vdup(float(args.beta * args.alpha)), vexpm1(x)), vmul(vdup(float(args.beta)), x));
}
SVENGINE_INLINE vf celu(vf x, const UnaryArgs& args) {
  return vsel(vlt(x, vdup(0.0f)), vmul(vdup(float(args.alpha)), vexpm1(vmul(x, vdup(float(1 / args.alpha))))), x);
}
SVENGINE_INLINE vf reciprocal(vf x) { return vdiv(vdup(1.0f), x); }
SVENGINE_INLINE vb is_nan(vf x) { return vne(x, x); }
SVENGINE_INLINE vb is_inf(vf x, const UnaryArgs& args) {
  const vb positive = veq(x, vdup(args.detect_positive ? kInfinity : kQuietNaN));  // nothing equals NaN
  const vb negative = veq(x, vdup(args.detect_negative ? -kInfinity : kQuietNaN));
  return svorr_z(svptrue_b32(), positive, negative);
}
template <Activation kKind>
SVENGINE_INLINE vf fused(vf x, const UnaryArgs& args) {
  return apply_activation<kKind>(x, ActivationArgs{kKind, float(args.alpha), float(args.beta)});
}

template <auto F, class Out = float>
[[gnu::flatten]] void loop(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  map_contiguous(static_cast<const float*>(args.x) + begin, static_cast<Out*>(args.y) + begin, end - begin, F);
}

/// For functions with parameters: a copy of the arguments, which stores to y cannot change, so that they stay in registers.
template <auto F, class Out = float>
[[gnu::flatten]] void loop_with(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  const UnaryArgs local = args;
  map_contiguous(static_cast<const float*>(args.x) + begin, static_cast<Out*>(args.y) + begin, end - begin,
                 [&local](vf x) { return F(x, local); });
}

UnaryFunction find_mathematics(UnaryOp op) {
  switch (op) {
    case UnaryOp::kAbs: return loop<magnitude>;
    case UnaryOp::kNeg: return loop<negative>;
    case UnaryOp::kSign: return loop<sign>;
    case UnaryOp::kFloor: return loop<floor>;
    case UnaryOp::kCeil: return loop<ceil>;
    case UnaryOp::kRound: return loop<vrint>;
    case UnaryOp::kSqrt: return loop<vsqrt>;
    case UnaryOp::kReciprocal: return loop<reciprocal>;
    case UnaryOp::kLog: return loop<vlog>;
    case UnaryOp::kSin: return loop<vsin>;
    case UnaryOp::kCos: return loop<vcos>;
    case UnaryOp::kTan: return loop<vtan>;
    case UnaryOp::kAsin: return loop<vasin>;
    case UnaryOp::kAcos: return loop<vacos>;
    case UnaryOp::kAtan: return loop<vatan>;
    case UnaryOp::kSinh: return loop<vsinh>;
    case UnaryOp::kCosh: return loop<vcosh>;
    case UnaryOp::kAsinh: return loop<vasinh>;
    case UnaryOp::kAcosh: return loop<vacosh>;
    case UnaryOp::kAtanh: return loop<vatanh>;
    case UnaryOp::kIsNaN: return loop<is_nan, uint8_t>;
    case UnaryOp::kIsInf: return loop_with<is_inf, uint8_t>;
    default: return nullptr;
  }
}

/// What is not a long chain, with a loop in another file.
template <Activation kKind>
UnaryFunction find_fused() {
  if constexpr (is_long_chain(kKind)) return nullptr;
  else return loop_with<fused<kKind>>;
}

UnaryFunction find_activation(UnaryOp op) {
  switch (op) {
#define SVENGINE_FUSED_ACTIVATION(Name, ...) \
  case UnaryOp::k##Name: return find_fused<Activation::k##Name>();
#include "engine/kernels/activation.inc"
    case UnaryOp::kSoftplus: return loop<vsoftplus>;
    case UnaryOp::kThresholdedRelu: return loop_with<thresholded_relu>;
    case UnaryOp::kElu: return loop_with<elu>;
    case UnaryOp::kSelu: return loop_with<selu>;
    case UnaryOp::kCelu: return loop_with<celu>;
    case UnaryOp::kSoftsign: return loop<softsign>;
    case UnaryOp::kMish: return loop<vmish>;
    default: return nullptr;
  }
}

UnaryOp operation_of(Activation kind) {
  switch (kind) {
    case Activation::kNone: return UnaryOp::kIdentity;
#define SVENGINE_FUSED_ACTIVATION(Name, ...) \
  case Activation::k##Name: return UnaryOp::k##Name;
#include "engine/kernels/activation.inc"
  }
  return UnaryOp::kIdentity;
}

}  // namespace

UnaryFunction find_unary_f32(UnaryOp op) noexcept {
  if (const UnaryFunction f = find_unary_exponential(op)) return f;
  if (const UnaryFunction f = find_unary_lockstep(op)) return f;
  if (const UnaryFunction f = find_mathematics(op)) return f;
  return find_activation(op);
}

void activate(const ActivationArgs& activation, float* y, int64_t n) noexcept {
  UnaryArgs args;
  args.x = y, args.y = y;
  args.alpha = activation.alpha, args.beta = activation.beta;
  if (activation.kind != Activation::kNone) find_unary_f32(operation_of(activation.kind))(args, 0, n);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
