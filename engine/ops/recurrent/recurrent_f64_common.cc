// Recurrent nodes in double: the reference's loops, a task for every row and direction.
#include <algorithm>

#include "engine/kernels/reference/recurrent.h"
#include "engine/ops/recurrent/recurrent_common.h"

namespace svengine::ops {
namespace {

struct DoubleNode {
  RecurrentOptions options;
  RecurrentSizes sizes;
  Buffer x, w, r, biases, lengths, h, c, peepholes, y, last_h, last_c, gates, cells;
};

/// The part of an input that belongs to direction d, of `each` numbers.
double* part(const Run& run, Buffer buffer, int64_t d, int64_t each) {
  double* base = run.get<double>(buffer);
  return base ? base + d * each : nullptr;
}

void run_row(const DoubleNode& node, const Run& run, int64_t d, int64_t b, int64_t steps) {
  const RecurrentSizes& z = node.sizes;
  const RecurrentOptions& o = node.options;
  const int64_t gates = kernels::gates_of(o.cell), n = z.hidden, state = recurrent_state_stride(z, o.batch_first).at(0, b, d);
  const auto y_stride = recurrent_y_stride(z, o.batch_first);
  double *scratch = run.scratch<double>(), *h = scratch, *cell = scratch + n;
  const auto load = [&](Buffer from, double* to) {
    const double* given = run.get<double>(from);
    for (int64_t i = 0; i < n; ++i) to[i] = given ? given[state + i] : 0.0;
  };
  load(node.h, h);
  load(node.c, cell);
  kernels::ReferenceSequence q{.cell = o.cell,
                               .activation = o.activation[d],
                               .clip = static_cast<double>(o.clip),
                               .input_forget = o.input_forget,
                               .reverse = o.reverse[d],
                               .length = steps,
                               .ins = z.ins,
                               .hidden = n};
  q.x = run.get<const double>(node.x) + (o.batch_first ? b * z.steps : b) * z.ins;
  q.x_step = (o.batch_first ? 1 : z.batch) * z.ins;
  q.w = part(run, node.w, d, gates * n * z.ins);
  q.r = part(run, node.r, d, gates * n * n);
  q.biases = part(run, node.biases, d, 2 * gates * n);
  q.peepholes = part(run, node.peepholes, d, 3 * n);
  q.h = h, q.c = cell;
  q.y = node.y ? run.get<double>(node.y) + y_stride.at(0, b, d) : nullptr;
  q.y_step = y_stride.step;
  q.scratch = scratch + 2 * n;
  const int64_t row = b * z.directions + d, rows = z.batch * z.directions, kept = kernels::kept_gates_of(o.cell) * n;
  if (node.gates) q.gates = run.get<double>(node.gates) + row * kept, q.gates_step = rows * kept;
  if (node.cells) q.cells = run.get<double>(node.cells) + row * n, q.cells_step = rows * n;
  kernels::reference_sequence(q);
  for (int64_t t = steps; q.y && t < z.steps; ++t) std::fill_n(q.y + t * q.y_step, n, 0.0);
  if (node.last_h) std::copy_n(h, n, run.get<double>(node.last_h) + state);
  if (node.last_c) std::copy_n(cell, n, run.get<double>(node.last_c) + state);
}

}  // namespace

Status lower_recurrent_f64(LowerContext& c, const RecurrentOptions& o) {
  const bool lstm = o.cell == kernels::RecurrentCell::kLstm;
  DoubleNode node;
  node.options = o;
  node.sizes = recurrent_sizes(c.node(), o);
  const auto in = [&](size_t i) { return c.has_input(i) ? c.in(i) : Buffer{}; };
  const auto out = [&](size_t i) { return c.has_output(i) ? c.out(i) : Buffer{}; };
  node.x = in(0), node.w = in(1), node.r = in(2), node.biases = in(3), node.lengths = in(4), node.h = in(5);
  node.y = out(0), node.last_h = out(1);
  node.gates = out(lstm ? 3 : 2);
  if (lstm) node.c = in(6), node.peepholes = in(7), node.last_c = out(2), node.cells = out(4);
  const RecurrentSizes& z = node.sizes;
  c.emit(
      "recurrent_f64", z.directions * z.batch,
      [node](const Run& run, int64_t begin, int64_t end) -> const char* {
        const int32_t* lengths = run.get<const int32_t>(node.lengths);
        for (int64_t row = begin; row < end; ++row) {
          const int64_t b = row % node.sizes.batch, steps = lengths ? lengths[b] : node.sizes.steps;
          if (steps < 0 || steps > node.sizes.steps) return "an entry of sequence_lens is negative or more than X has steps";
          run_row(node, run, row / node.sizes.batch, b, steps);
        }
        return nullptr;
      },
      8 * z.hidden * static_cast<int64_t>(sizeof(double)));
  return {};
}

}  // namespace svengine::ops
