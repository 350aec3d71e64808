#include <algorithm>
#include <cmath>

#include "engine/ops/recurrent/recurrent_grad_common.h"

namespace svengine::ops {
namespace {

using kernels::RecurrentCell;

/// What a row of a step needs, found once.
template <class T>
struct BackwardRow {
  int64_t t = 0, row = 0;
  bool live = false;
  const T *dy = nullptr, *h = nullptr, *c = nullptr, *cell = nullptr, *gates = nullptr, *peepholes = nullptr;
  T *dh = nullptr, *dc = nullptr, *current = nullptr, *inputs = nullptr, *states = nullptr, *before = nullptr,
        *before_c = nullptr;
};

/// Row (t, b) of a forward output of every step; `first` where the step has none before it.
template <class T>
const T* state_before(const RecurrentGradPlace& p, const Run& run, Buffer all, const kernels::RecurrentStride& stride,
                      Buffer first, int64_t s, int64_t t, int64_t d, int64_t b) {
  if (s > 0) return run.get<const T>(all) + stride.at(p.reverse[d] ? t + 1 : t - 1, b, d);
  const T* given = run.get<const T>(first);
  return given ? given + recurrent_state_stride(p.sizes, p.batch_first).at(0, b, d) : nullptr;
}

template <class T>
BackwardRow<T> row_of_step(const RecurrentGradPlace& p, const Run& run, int64_t s, int64_t d, int64_t b) {
  const RecurrentSizes& z = p.sizes;
  const int64_t n = z.hidden, own = (d * z.batch + b) * n, length = p.lengths ? run.get<const int32_t>(p.lengths)[b] : z.steps;
  const auto y_stride = recurrent_y_stride(z, p.batch_first);
  const kernels::RecurrentStride cell_stride{z.batch * z.directions * n, z.directions * n, n};
  BackwardRow<T> r;
  r.live = s < length;
  r.t = r.live && p.reverse[d] ? length - 1 - s : s;
  r.row = d * p.rows() + p.row_of(r.t, b);
  r.inputs = run.get<T>(p.inputs) + r.row * p.width();
  r.states = p.states ? run.get<T>(p.states) + r.row * p.width() : nullptr;
  r.before = run.get<T>(p.before) + r.row * n;
  r.current = run.get<T>(p.current) + (d * z.batch + b) * p.width();
  r.dh = run.get<T>(p.dh) + own;
  if (p.dc) r.dc = run.get<T>(p.dc) + own;
  if (p.before_c) r.before_c = run.get<T>(p.before_c) + r.row * n;
  if (!r.live) return r;
  if (p.dy) r.dy = run.get<const T>(p.dy) + y_stride.at(r.t, b, d);
  r.h = state_before<T>(p, run, p.y, y_stride, p.first_h, s, r.t, d, b);
  if (p.cell == RecurrentCell::kRnn) r.gates = run.get<const T>(p.y) + y_stride.at(r.t, b, d);
  const int64_t kept = kernels::kept_gates_of(p.cell) * n;
  if (p.gates) r.gates = run.get<const T>(p.gates) + ((r.t * z.batch + b) * z.directions + d) * kept;
  if (!p.cells) return r;
  r.cell = run.get<const T>(p.cells) + cell_stride.at(r.t, b, d);
  r.c = state_before<T>(p, run, p.cells, cell_stride, p.first_c, s, r.t, d, b);
  if (p.peepholes) r.peepholes = run.get<const T>(p.peepholes) + d * 3 * n;
  return r;
}

/// The step does nothing for a row that had ended: its state's gradient stays.
template <class T>
void rest_backward(const RecurrentGradPlace& p, const BackwardRow<T>& r) {
  std::fill_n(r.inputs, p.width(), T(0));
  if (r.states) std::fill_n(r.states, p.width(), T(0));
  std::fill_n(r.before, p.sizes.hidden, T(0));
  if (r.before_c) std::fill_n(r.before_c, p.sizes.hidden, T(0));
  std::fill_n(r.current, p.width(), T(0));
}

template <class T>
T at(const T* values, int64_t i) { return values ? values[i] : T(0); }

template <class T>
void rnn_backward(const BackwardRow<T>& r, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const T h = r.gates[i];
    r.inputs[i] = (r.dh[i] + at(r.dy, i)) * (1 - h * h);
    r.dh[i] = 0;
  }
}

/// i, o, f and g, and c of the step before.
template <class T>
void lstm_backward(const BackwardRow<T>& r, int64_t n) {
  const T *i_gate = r.gates, *o_gate = r.gates + n, *f_gate = r.gates + 2 * n, *g_gate = r.gates + 3 * n;
  for (int64_t u = 0; u < n; ++u) {
    const T i = i_gate[u], o = o_gate[u], f = f_gate[u], g = g_gate[u], c = at(r.c, u), dh = r.dh[u] + at(r.dy, u);
    const T squashed = std::tanh(r.cell[u]);
    const T d_o = dh * squashed * o * (1 - o);
    T dc = r.dc[u] + dh * o * (1 - squashed * squashed);
    if (r.peepholes) dc += r.peepholes[n + u] * d_o;
    const T d_i = dc * g * i * (1 - i), d_f = dc * c * f * (1 - f), d_g = dc * i * (1 - g * g);
    r.inputs[u] = d_i, r.inputs[n + u] = d_o, r.inputs[2 * n + u] = d_f, r.inputs[3 * n + u] = d_g;
    r.dc[u] = dc * f + (r.peepholes ? r.peepholes[u] * d_i + r.peepholes[2 * n + u] * d_f : T(0));
    r.dh[u] = 0;
    if (r.before_c) r.before_c[u] = c;
  }
}

/// z and n; r follows from the gradient of r h, or, reset after, at once.
template <class T>
void gru_backward(const BackwardRow<T>& r, int64_t n, bool after) {
  for (int64_t u = 0; u < n; ++u) {
    const T z = r.gates[u], reset = r.gates[n + u], candidate = r.gates[2 * n + u], h = at(r.h, u),
                dh = r.dh[u] + at(r.dy, u);
    const T d_n = dh * (1 - z) * (1 - candidate * candidate);
    r.inputs[u] = dh * (h - candidate) * z * (1 - z);
    r.inputs[2 * n + u] = d_n;
    r.dh[u] = dh * z;
    if (!after) continue;
    r.inputs[n + u] = d_n * r.gates[3 * n + u] * reset * (1 - reset);
    r.states[u] = r.inputs[u], r.states[n + u] = r.inputs[n + u], r.states[2 * n + u] = d_n * reset;
  }
}

}  // namespace

template <class T>
void recurrent_step_backward(const RecurrentGradPlace& p, const Run& run, int64_t s, int64_t d, int64_t b) {
  const BackwardRow<T> r = row_of_step<T>(p, run, s, d, b);
  const int64_t n = p.sizes.hidden;
  if (!r.live) {
    rest_backward(p, r);
    if (p.reset) std::fill_n(run.get<T>(p.reset) + r.row * n, n, T(0));
    return;
  }
  for (int64_t u = 0; u < n; ++u) r.before[u] = at(r.h, u);
  switch (p.cell) {
    case RecurrentCell::kRnn:
      rnn_backward(r, n);
      break;
    case RecurrentCell::kLstm:
      lstm_backward(r, n);
      break;
    case RecurrentCell::kGru:
      gru_backward(r, n, false);
      break;
    case RecurrentCell::kGruResetAfter:
      gru_backward(r, n, true);
      break;
  }
  std::copy_n(r.states ? r.states : r.inputs, p.width(), r.current);
  if (p.cell != RecurrentCell::kGru) return;
  std::fill_n(r.current + n, n, T(0));
  T* reset = run.get<T>(p.reset) + r.row * n;
  for (int64_t u = 0; u < n; ++u) reset[u] = r.gates[n + u] * r.before[u];
}

template <class T>
void recurrent_reset_backward(const RecurrentGradPlace& p, const Run& run, int64_t s, int64_t d, int64_t b) {
  const BackwardRow<T> r = row_of_step<T>(p, run, s, d, b);
  if (!r.live) return;
  const int64_t n = p.sizes.hidden;
  const T* gradient = run.get<const T>(p.reset_gradient) + (d * p.sizes.batch + b) * n;
  for (int64_t u = 0; u < n; ++u) {
    const T reset = r.gates[n + u];
    r.inputs[n + u] = r.current[n + u] = gradient[u] * r.before[u] * reset * (1 - reset);
    r.dh[u] += gradient[u] * reset;
  }
}

template void recurrent_step_backward<float>(const RecurrentGradPlace&, const Run&, int64_t, int64_t, int64_t);
template void recurrent_step_backward<double>(const RecurrentGradPlace&, const Run&, int64_t, int64_t, int64_t);
template void recurrent_reset_backward<float>(const RecurrentGradPlace&, const Run&, int64_t, int64_t, int64_t);
template void recurrent_reset_backward<double>(const RecurrentGradPlace&, const Run&, int64_t, int64_t, int64_t);

}  // namespace svengine::ops
