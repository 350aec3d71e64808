// svengine.RecurrentGrad in double: a task for every row and direction walks back through the steps; then sums over rows, a task for
// every row of a weight.
#include <algorithm>

#include "engine/ops/recurrent/recurrent_grad_common.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

using DoubleGradPlace = std::shared_ptr<const RecurrentGradPlace>;

/// Inputs and outputs of the node that the walk back does not have.
struct DoubleGradNode {
  DoubleGradPlace place;
  Buffer x, w, r, dy_h, dy_c, dx, dw, dr, db, dh, dc, dp;
};

/// to[u] += sum over rows of R of left[k] R[k][u].
void add_state_product(const double* left, const double* r, int64_t rows, int64_t n, double* to) {
  for (int64_t k = 0; k < rows; ++k)
    for (int64_t u = 0; u < n; ++u) to[u] += left[k] * r[k * n + u];
}

void copy_state(const double* from, int64_t n, double* to) {
  if (from) std::copy_n(from, n, to);
  else std::fill_n(to, n, 0.0);
}

void walk_back(const DoubleGradNode& node, const Run& run, int64_t d, int64_t b) {
  const RecurrentGradPlace& p = *node.place;
  const RecurrentSizes& z = p.sizes;
  const int64_t n = z.hidden, width = p.width(), row = d * z.batch + b, state = recurrent_state_stride(z, p.batch_first).at(0, b, d);
  const bool reset_before = p.cell == kernels::RecurrentCell::kGru;
  const auto given = [&](Buffer from) { return from ? run.get<const double>(from) + state : nullptr; };
  const double *current = run.get<const double>(p.current) + row * width, *r = run.get<const double>(node.r) + d * width * n;
  double* dh = run.get<double>(p.dh) + row * n;
  copy_state(given(node.dy_h), n, dh);
  if (p.dc) copy_state(given(node.dy_c), n, run.get<double>(p.dc) + row * n);
  for (int64_t s = z.steps; s-- > 0;) {
    recurrent_step_backward<double>(p, run, s, d, b);
    if (reset_before) {
      double* reset = run.get<double>(p.reset_gradient) + row * n;
      std::fill_n(reset, n, 0.0);
      add_state_product(current + 2 * n, r + 2 * n * n, n, n, reset);
      recurrent_reset_backward<double>(p, run, s, d, b);
    }
    add_state_product(current, r, reset_before ? 2 * n : width, n, dh);
  }
  std::copy_n(dh, n, run.get<double>(node.dh) + state);
  if (p.dc) std::copy_n(run.get<const double>(p.dc) + row * n, n, run.get<double>(node.dc) + state);
}

/// Row k of direction d of W, R and of both halves of B.
void sum_weight_row(const DoubleGradNode& node, const Run& run, int64_t d, int64_t k) {
  const RecurrentGradPlace& p = *node.place;
  const RecurrentSizes& z = p.sizes;
  const int64_t n = z.hidden, width = p.width();
  const bool reset = p.cell == kernels::RecurrentCell::kGru && k >= 2 * n;
  double *dw = run.get<double>(node.dw) + (d * width + k) * z.ins, *dr = run.get<double>(node.dr) + (d * width + k) * n;
  std::fill_n(dw, z.ins, 0.0);
  std::fill_n(dr, n, 0.0);
  double input_sum = 0, state_sum = 0;
  for (int64_t row = 0; row < p.rows(); ++row) {
    const int64_t at = d * p.rows() + row;
    const double input = run.get<const double>(p.inputs)[at * width + k];
    const double of_state = p.states ? run.get<const double>(p.states)[at * width + k] : input;
    const double *x = run.get<const double>(node.x) + row * z.ins, *h = run.get<const double>(reset ? p.reset : p.before) + at * n;
    for (int64_t i = 0; i < z.ins; ++i) dw[i] += input * x[i];
    for (int64_t i = 0; i < n; ++i) dr[i] += of_state * h[i];
    input_sum += input, state_sum += of_state;
  }
  double* db = run.get<double>(node.db) + d * 2 * width;
  db[k] = input_sum, db[width + k] = state_sum;
}

void sum_input_row(const DoubleGradNode& node, const Run& run, int64_t row) {
  const RecurrentGradPlace& p = *node.place;
  const int64_t ins = p.sizes.ins, width = p.width();
  double* dx = run.get<double>(node.dx) + row * ins;
  const double *inputs = run.get<const double>(p.inputs), *w = run.get<const double>(node.w);
  std::fill_n(dx, ins, 0.0);
  for (int64_t d = 0; d < p.sizes.directions; ++d)
    add_state_product(inputs + (d * p.rows() + row) * width, w + d * width * ins, width, ins, dx);
}

/// Gate i, o or f of unit u: what the gate's gradient was multiplied with is the cell that it looked at.
void sum_peephole(const DoubleGradNode& node, const Run& run, int64_t d, int64_t gate, int64_t u) {
  const RecurrentGradPlace& p = *node.place;
  const RecurrentSizes& z = p.sizes;
  const int64_t n = z.hidden;
  double sum = 0;
  for (int64_t t = 0; t < z.steps; ++t)
    for (int64_t b = 0; b < z.batch; ++b) {
      const int64_t row = d * p.rows() + p.row_of(t, b);
      const double seen = gate == 1 ? run.get<const double>(p.cells)[((t * z.batch + b) * z.directions + d) * n + u]
                                    : run.get<const double>(p.before_c)[row * n + u];
      sum += run.get<const double>(p.inputs)[row * p.width() + gate * n + u] * seen;
    }
  run.get<double>(node.dp)[(d * 3 + gate) * n + u] = sum;
}

/// A step of `tasks` calls of `work` with the task's number.
template <class Work>
void emit_each(LowerContext& c, const char* name, int64_t tasks, Work work) {
  c.emit(name, tasks, [work](const Run& run, int64_t begin, int64_t end) -> const char* {
    for (int64_t task = begin; task < end; ++task) work(run, task);
    return nullptr;
  });
}

}  // namespace

Status lower_recurrent_grad_f64(LowerContext& c, const DoubleGradPlace& place) {
  const auto in = [&](size_t i) { return c.has_input(i) ? c.in(i) : Buffer{}; };
  DoubleGradNode node;
  node.place = place;
  node.x = c.in(kGradX), node.w = c.in(kGradW), node.r = c.in(kGradR), node.dy_h = in(kGradDyH), node.dy_c = in(kGradDyC);
  node.dw = c.out(1), node.dr = c.out(2), node.db = c.out(3), node.dh = c.out(4);
  const int64_t batch = place->sizes.batch, directions = place->sizes.directions, width = place->width(), hidden = place->sizes.hidden;
  if (place->dc) node.dc = c.out(5);
  emit_each(c, "recurrent_grad_f64", directions * batch,
            [=](const Run& run, int64_t task) { walk_back(node, run, task / batch, task % batch); });
  emit_each(c, "recurrent_grad_weights_f64", directions * width,
            [=](const Run& run, int64_t task) { sum_weight_row(node, run, task / width, task % width); });
  if (c.attributes().get_int("input_gradient", 1)) {
    node.dx = c.out(0);
    emit_each(c, "recurrent_grad_input_f64", place->rows(), [=](const Run& run, int64_t task) { sum_input_row(node, run, task); });
  } else {
    emit_zeros(c, 0);
  }
  if (!place->before_c) return emit_zeros(c, 6), Status();
  node.dp = c.out(6);
  emit_each(c, "recurrent_grad_peepholes_f64", directions * 3 * hidden, [=](const Run& run, int64_t task) {
    sum_peephole(node, run, task / (3 * hidden), task / hidden % 3, task % hidden);
  });
  return {};
}

}  // namespace svengine::ops
