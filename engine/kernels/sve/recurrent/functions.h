// Activations of recurrent cells, of floats and doubles, chosen at run time.
#pragma once
#include "engine/kernels/recurrent.h"
#include "engine/kernels/sve/element.h"
#include "engine/kernels/sve/math/log_f64.h"
#include "engine/kernels/sve/math/math.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::recurrent {

/// The functions of a vector of either type, or of many.
SVENGINE_INLINE vf sigmoid(vf x) { return vsigmoid(x); }
SVENGINE_INLINE vd sigmoid(vd x) { return vsigmoid_f64(x); }
template <int N>
SVENGINE_INLINE Many<N> sigmoid(const Many<N>& x) {
  return vsigmoid(x);
}
template <int N>
SVENGINE_INLINE Many<N, vd> sigmoid(const Many<N, vd>& x) {
  return vsigmoid_f64(x);
}
SVENGINE_INLINE vf tanh(vf x) { return vtanh<Coefficients::kRegisters>(x); }
SVENGINE_INLINE vd tanh(vd x) { return vtanh_f64(x); }
SVENGINE_INLINE vf expm1(vf x) { return vexpm1(x); }
SVENGINE_INLINE vd expm1(vd x) { return vexpm1_f64(x); }
SVENGINE_INLINE vf softplus(vf x) { return vsoftplus(x); }
SVENGINE_INLINE vd softplus(vd x) { return vsoftplus_f64(x); }
/// a / b for everything: of doubles by the processor, as vdiv_f64 is not made for infinities.
SVENGINE_INLINE vf quotient(vf a, vf b) { return vdiv(a, b); }
SVENGINE_INLINE vd quotient(vd a, vd b) { return svdiv_x(svptrue_b64(), a, b); }

template <class T>
[[gnu::noinline]] inline Vec<T> apply_function(const RecurrentActivation& a, Vec<T> x) {
  const Vec<T> alpha = repeated<T>(a.alpha), beta = repeated<T>(a.beta), zero = repeated<T>(0);
  switch (a.function) {
    case RecurrentFunction::kSigmoid: return sigmoid(x);
    case RecurrentFunction::kTanh: return tanh(x);
    case RecurrentFunction::kRelu: return vmax(x, T(0));
    case RecurrentFunction::kAffine: return vfma(x, alpha, beta);
    case RecurrentFunction::kLeakyRelu: return svsel(svcmplt(every<T>(), x, zero), vmul(x, alpha), x);
    case RecurrentFunction::kThresholdedRelu: return svsel(svcmple(every<T>(), x, alpha), zero, x);
    case RecurrentFunction::kScaledTanh: return vmul(alpha, tanh(vmul(x, beta)));
    case RecurrentFunction::kHardSigmoid: return vmin(vmax(vfma(x, alpha, beta), T(0)), T(1));
    case RecurrentFunction::kElu: return svsel(svcmplt(every<T>(), x, zero), vmul(alpha, expm1(x)), x);
    case RecurrentFunction::kSoftsign: return quotient(x, vadd(vabs(x), repeated<T>(1)));
    case RecurrentFunction::kSoftplus: return softplus(x);
  }
  return x;
}

/// The three of a cell are the usual ones: sigmoid, tanh and, of LSTM, tanh.
template <class T>
inline bool are_usual(const RecurrentArgsOf<T>& args, int64_t direction) {
  const RecurrentActivation* a = args.activation[direction];
  return a[0].function == RecurrentFunction::kSigmoid && a[1].function == RecurrentFunction::kTanh &&
         (args.cell != RecurrentCell::kLstm || a[2].function == RecurrentFunction::kTanh);
}

template <class T>
SVENGINE_INLINE Vec<T> clipped(const RecurrentArgsOf<T>& args, Vec<T> x) {
  return args.clip > 0 ? vmin(vmax(x, T(-args.clip)), T(args.clip)) : x;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::recurrent
