// Activations of recurrent cells, chosen at run time.
#pragma once
#include "engine/kernels/recurrent.h"
#include "engine/kernels/sve/math/math.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::recurrent {

[[gnu::noinline]] inline vf apply_function(const RecurrentActivation& a, vf x) {
  const vf alpha = vdup(a.alpha), beta = vdup(a.beta), zero = vdup(0.0f);
  switch (a.function) {
    case RecurrentFunction::kSigmoid: return vsigmoid(x);
    case RecurrentFunction::kTanh: return vtanh<Coefficients::kRegisters>(x);
    case RecurrentFunction::kRelu: return vmax(x, 0.0f);
    case RecurrentFunction::kAffine: return vfma(x, alpha, beta);
    case RecurrentFunction::kLeakyRelu: return vsel(vlt(x, zero), vmul(x, alpha), x);
    case RecurrentFunction::kThresholdedRelu: return vsel(vle(x, alpha), zero, x);
    case RecurrentFunction::kScaledTanh: return vmul(alpha, vtanh<Coefficients::kRegisters>(vmul(x, beta)));
    case RecurrentFunction::kHardSigmoid: return vmin(vmax(vfma(x, alpha, beta), 0.0f), 1.0f);
    case RecurrentFunction::kElu: return vsel(vlt(x, zero), vmul(alpha, vexpm1(x)), x);
    case RecurrentFunction::kSoftsign: return vdiv(x, vadd(vabs(x), vdup(1.0f)));
    case RecurrentFunction::kSoftplus: return vsoftplus(x);
  }
  return x;
}

/// The three of a cell are the usual ones: sigmoid, tanh and, of LSTM, tanh.
inline bool are_usual(const RecurrentArgs& args, int64_t direction) {
  const RecurrentActivation* a = args.activation[direction];
  return a[0].function == RecurrentFunction::kSigmoid && a[1].function == RecurrentFunction::kTanh &&
         (args.cell != RecurrentCell::kLstm || a[2].function == RecurrentFunction::kTanh);
}

SVENGINE_INLINE vf clipped(const RecurrentArgs& args, vf x) {
  return args.clip > 0 ? vmin(vmax(x, -args.clip), args.clip) : x;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::recurrent
