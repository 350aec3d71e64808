#include "engine/kernels/reference/recurrent.h"

#include <algorithm>
#include <cmath>

namespace svengine::kernels {
namespace {

double clipped(double x, double clip) { return clip > 0 && !std::isnan(x) ? std::clamp(x, -clip, clip) : x; }

double dot(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

double reference_function(const RecurrentActivation& a, double x) {
  const double alpha = static_cast<double>(a.alpha), beta = static_cast<double>(a.beta);
  if (std::isnan(x)) return x;
  switch (a.function) {
    case RecurrentFunction::kSigmoid: return 1 / (1 + std::exp(-x));
    case RecurrentFunction::kTanh: return std::tanh(x);
    case RecurrentFunction::kRelu: return std::max(x, 0.0);
    case RecurrentFunction::kAffine: return alpha * x + beta;
    case RecurrentFunction::kLeakyRelu: return x < 0 ? alpha * x : x;
    case RecurrentFunction::kThresholdedRelu: return x > alpha ? x : 0;
    case RecurrentFunction::kScaledTanh: return alpha * std::tanh(beta * x);
    case RecurrentFunction::kHardSigmoid: return std::clamp(alpha * x + beta, 0.0, 1.0);
    case RecurrentFunction::kElu: return x > 0 ? x : alpha * std::expm1(x);
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

namespace {

/// What is not of the state's products, for unit `i` at time t.
ReferenceUnit unit_at(const ReferenceSequence& q, int64_t t, int64_t i) {
  const int64_t gates = gates_of(q.cell), n = q.hidden;
  ReferenceUnit u{.cell = q.cell, .activation = q.activation, .clip = q.clip, .input_forget = q.input_forget};
  for (int64_t g = 0; g < gates; ++g) {
    u.x[g] = dot(q.x + t * q.x_step, q.w + (g * n + i) * q.ins, q.ins);
    if (!q.biases) continue;
    u.x[g] += q.biases[g * n + i];
    const double of_state = q.biases[(gates + g) * n + i];
    (q.cell == RecurrentCell::kGruResetAfter && g == 2 ? u.state_bias : u.x[g]) += of_state;
  }
  u.has_peepholes = q.peepholes != nullptr;
  for (int64_t p = 0; p < 3 && q.peepholes; ++p) u.peepholes[p] = q.peepholes[p * n + i];
  u.h = q.h[i];
  u.c = q.c ? q.c[i] : 0;
  return u;
}

void sequence_step(const ReferenceSequence& q, int64_t t) {
  const int64_t n = q.hidden, gates = gates_of(q.cell), before_reset = q.cell == RecurrentCell::kGru ? 2 : gates;
  double *next = q.scratch, *next_c = q.scratch + n, *reset = q.scratch + 2 * n, *products = q.scratch + 3 * n;
  if (q.cell == RecurrentCell::kGru) {
    for (int64_t i = 0; i < n; ++i) {
      ReferenceUnit u = unit_at(q, t, i);
      u.q[1] = dot(q.r + (n + i) * n, q.h, n);
      reset[i] = reference_gate(u, 1) * q.h[i];
    }
    for (int64_t i = 0; i < n; ++i) products[i] = dot(q.r + (2 * n + i) * n, reset, n);
  }
  for (int64_t i = 0; i < n; ++i) {
    ReferenceUnit u = unit_at(q, t, i);
    for (int64_t g = 0; g < before_reset; ++g) u.q[g] = dot(q.r + (g * n + i) * n, q.h, n);
    if (q.cell == RecurrentCell::kGru) u.q[2] = products[i];
    const ReferenceState state = reference_unit(u);
    next[i] = state.h;
    next_c[i] = state.c;
    for (int64_t g = 0; q.gates && g < kept_gates_of(q.cell); ++g) q.gates[t * q.gates_step + g * n + i] = state.gates[g];
  }
  std::copy_n(next, n, q.h);
  if (q.c) std::copy_n(next_c, n, q.c);
  if (q.y) std::copy_n(next, n, q.y + t * q.y_step);
  if (q.cells) std::copy_n(next_c, n, q.cells + t * q.cells_step);
}

}  // namespace

void reference_sequence(const ReferenceSequence& q) {
  for (int64_t s = 0; s < q.length; ++s) sequence_step(q, q.reverse ? q.length - 1 - s : s);
}

}  // namespace svengine::kernels
