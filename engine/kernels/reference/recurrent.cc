#include "engine/kernels/reference/recurrent.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/reference/formulas.h"

namespace svengine::kernels {
namespace {

double clipped(double x, double clip) { return clip > 0 && !std::isnan(x) ? std::clamp(x, -clip, clip) : x; }

}  // namespace

double reference_function(const RecurrentActivation& a, double x) {
  const double alpha = static_cast<double>(a.alpha), beta = static_cast<double>(a.beta);
  if (std::isnan(x)) return x;
  switch (a.function) {
    case RecurrentFunction::kSigmoid: return 1 / (1 + std::exp(-x));
    case RecurrentFunction::kTanh: return std::tanh(x);
    case RecurrentFunction::kRelu: return at_least(x, 0);
    case RecurrentFunction::kAffine: return alpha * x + beta;
    case RecurrentFunction::kLeakyRelu: return x < 0 ? alpha * x : x;
    case RecurrentFunction::kThresholdedRelu: return x > alpha ? x : 0;
    case RecurrentFunction::kScaledTanh: return alpha * std::tanh(beta * x);
    case RecurrentFunction::kHardSigmoid: return std::clamp(alpha * x + beta, 0.0, 1.0);
    case RecurrentFunction::kElu: return x < 0 ? alpha * std::expm1(x) : x;
    case RecurrentFunction::kSoftsign: return x / (1 + std::fabs(x));
    case RecurrentFunction::kSoftplus: return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
  return x;
}

double reference_gate(const ReferenceUnit& u, int gate) {
  return reference_function(u.activation[0], clipped(u.x[gate] + u.q[gate], u.clip));
}

ReferenceState reference_unit(const ReferenceUnit& u) {
  ReferenceState out;
  double* gates = out.gates;
  const auto function = [&](int which, double x) { return reference_function(u.activation[which], clipped(x, u.clip)); };
  const auto gate = [&](int g, double c) { return function(0, u.x[g] + u.q[g] + (u.has_peepholes ? u.peepholes[g] * c : 0)); };
  if (u.cell == RecurrentCell::kRnn) {
    out.h = gates[0] = function(0, u.x[0] + u.q[0]);
  } else if (u.cell == RecurrentCell::kLstm) {
    gates[0] = gate(0, u.c);
    gates[2] = u.input_forget ? 1 - gates[0] : gate(2, u.c);
    gates[3] = function(1, u.x[3] + u.q[3]);
    out.c = gates[2] * u.c + gates[0] * gates[3];
    gates[1] = gate(1, out.c);
    out.h = gates[1] * reference_function(u.activation[2], out.c);
  } else {
    gates[0] = reference_gate(u, 0);
    gates[1] = reference_gate(u, 1);
    gates[3] = u.q[2] + u.state_bias;
    gates[2] = function(1, u.cell == RecurrentCell::kGru ? u.x[2] + u.q[2] : u.x[2] + gates[1] * gates[3]);
    out.h = (1 - gates[0]) * gates[2] + gates[0] * u.h;
  }
  return out;
}

}  // namespace svengine::kernels
