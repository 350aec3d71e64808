// Recurrent steps: from ranges of tasks to panels of units and tiles of rows.
//
// A task of a step is a panel of `lanes` units for a group of rows, its weights read from the L2 cache of the core that had the
// same panel in the step before; tasks of neighbours are neighbouring panels. What a tile of rows sums up goes to memory of its
// own, from which the cell takes it row by row. Of floats and doubles alike.
#include "engine/kernels/recurrent.h"

#include "engine/kernels/contract_recurrent.h"
#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/even_partition.h"
#include "engine/kernels/sve/recurrent/cells.h"
#include "engine/kernels/sve/recurrent/product.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

extern const RecurrentKernelsOf<float> recurrent_kernels;
extern const RecurrentKernelsOf<double> recurrent_f64_kernels;

namespace recurrent {
namespace {

/// Rows of a task of a step. Weights of a panel come from L2 once for every tile of rows, whatever the group.
constexpr int64_t kGroupRows = 48;
/// Rows of a task of a whole sequence: one tile of any cell.
constexpr int64_t kSequenceRows = rows_of_tile(4);

template <class T>
int64_t panels_of(int64_t hidden) {
  return ceil_div(hidden, kLanesOf<T>);
}

/// Elements of packed weights of so many gates.
template <class T>
int64_t panel_elements(int64_t hidden, int64_t gates) {
  return hidden * gates * kLanesOf<T>;
}

/// Those of one direction.
template <class T>
int64_t packed_elements(RecurrentCell cell, int64_t hidden) {
  return panels_of<T>(hidden) * panel_elements<T>(hidden, gates_of(cell));
}

template <class T>
int64_t packed_bytes(RecurrentCell cell, int64_t hidden) noexcept {
  return packed_elements<T>(cell, hidden) * static_cast<int64_t>(sizeof(T));
}

template <class T>
void pack_panel(const RecurrentPackArgsOf<T>& args, int64_t panel, int64_t first_gate, int64_t gates, T* to) {
  const int64_t n = args.hidden;
  for (int64_t g = 0; g < gates; ++g)
    for (int64_t lane = 0; lane < kLanesOf<T>; ++lane) {
      const int64_t unit = panel * kLanesOf<T> + lane;
      const T* from = args.source + ((first_gate + g) * n + unit) * n;
      T* at = to + g * kLanesOf<T> + lane;
      for (int64_t k = 0; k < n; ++k) at[k * gates * kLanesOf<T>] = unit < n ? from[k] : T(0);
    }
}

template <class T>
int64_t pack_tasks(const RecurrentPackArgsOf<T>& args) noexcept {
  return panels_of<T>(args.hidden);
}

template <class T>
void pack(const RecurrentPackArgsOf<T>& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t n = args.hidden, gates = gates_of(args.cell);
  for (int64_t panel = begin; panel < end; ++panel) {
    if (args.cell != RecurrentCell::kGru) {
      pack_panel(args, panel, 0, gates, args.packed + panel * panel_elements<T>(n, gates));
      continue;
    }
    pack_panel(args, panel, 0, 2, args.packed + panel * panel_elements<T>(n, 2));
    pack_panel(args, panel, 2, 1, args.packed + panels_of<T>(n) * panel_elements<T>(n, 2) + panel * panel_elements<T>(n, 1));
  }
}

/// Rows [first, last) of a direction at step s, for the units of a panel. `left` is what R is multiplied with, [batch][hidden].
template <int kGates, class T, class Cell>
void run_panel(const RecurrentArgsOf<T>& args, int64_t s, int64_t d, int64_t panel, int64_t first, int64_t last, const T* left,
               const T* weights, const Cell& cell) {
  constexpr int kRows = rows_of_tile(kGates);
  alignas(64) T products[kRows * kGates * kLanesOf<T>];
  const int64_t unit = panel * kLanesOf<T>;
  const vb p = lanes_below<T>(unit, args.hidden);
  const EvenPartition tiles(last - first, ceil_div(last - first, kRows));
  for (int64_t tile = 0; tile < ceil_div(last - first, kRows); ++tile) {
    const int64_t from = first + tiles.begin(tile), rows = tiles.size(tile);
    multiply<kGates>(rows, args.hidden, left + from * args.hidden, args.hidden,
                     weights + panel * panel_elements<T>(args.hidden, kGates), products);
    for (int64_t r = 0; r < rows; ++r) {
      bool live = false;
      const Row<T> row = row_at(args, s, d, from + r, unit, live);
      if (live)
        cell(args, d, unit, p, products + r * kGates * kLanesOf<T>, row);
      else if (args.cell != RecurrentCell::kGru || kGates == 1)  // GRU's step ends with its candidate
        rest(args, p, row);
    }
  }
}

/// The first pass of a step; of all cells but GRU the only one.
template <class T>
void run_gates(const RecurrentArgsOf<T>& args, int64_t s, int64_t d, int64_t panel, int64_t first, int64_t last) {
  const int64_t half = args.directions * args.batch * args.hidden;
  const T* h = args.h + (s % 2) * half + d * args.batch * args.hidden;
  const T* w = args.weights + d * packed_elements<T>(args.cell, args.hidden);
  const bool usual = are_usual(args, d);
  switch (args.cell) {
    case RecurrentCell::kRnn:
      return run_panel<1>(args, s, d, panel, first, last, h, w, rnn_row<T>);
    case RecurrentCell::kGru:
      return run_panel<2>(args, s, d, panel, first, last, h, w, usual ? gru_gates_row<T, true> : gru_gates_row<T, false>);
    case RecurrentCell::kGruResetAfter:
      return run_panel<3>(args, s, d, panel, first, last, h, w,
                          usual ? gru_reset_after_row<T, true> : gru_reset_after_row<T, false>);
    case RecurrentCell::kLstm:
      return run_panel<4>(args, s, d, panel, first, last, h, w, usual && !args.peepholes ? lstm_usual_row<T> : lstm_row<T>);
  }
}

template <class T>
void run_candidate(const RecurrentArgsOf<T>& args, int64_t s, int64_t d, int64_t panel, int64_t first, int64_t last) {
  const T* reset = args.reset + d * args.batch * args.hidden;
  const T* w = args.weights + d * packed_elements<T>(args.cell, args.hidden);
  w += panels_of<T>(args.hidden) * panel_elements<T>(args.hidden, 2);
  run_panel<1>(args, s, d, panel, first, last, reset, w, gru_candidate_row<T>);
}

template <class T>
int64_t groups_of(const RecurrentArgsOf<T>& args) {
  return ceil_div(args.batch, kGroupRows);
}

template <class T>
int64_t step_tasks(const RecurrentArgsOf<T>& args) noexcept {
  return args.directions * panels_of<T>(args.hidden) * groups_of(args);
}

template <class T>
using Pass = void (*)(const RecurrentArgsOf<T>&, int64_t s, int64_t d, int64_t panel, int64_t first, int64_t last);

/// Every second step goes backwards, so that the weights which are read first are those that the step before has left in the
/// cache.
template <class T, Pass<T> kPass>
void run_step(const RecurrentArgsOf<T>& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t groups = groups_of(args), panels = panels_of<T>(args.hidden);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t task = args.step % 2 == 0 ? i : begin + end - 1 - i;
    const int64_t group = task % groups, panel = task / groups % panels, first = group * kGroupRows;
    kPass(args, args.step, task / groups / panels, panel, first, smaller(args.batch, first + kGroupRows));
  }
}

template <class T>
int64_t sequence_tasks(const RecurrentArgsOf<T>& args) noexcept {
  return args.directions * ceil_div(args.batch, kSequenceRows);
}

template <class T>
void run_sequence(const RecurrentArgsOf<T>& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t blocks = ceil_div(args.batch, kSequenceRows), panels = panels_of<T>(args.hidden);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d = task / blocks, first = task % blocks * kSequenceRows, last = smaller(args.batch, first + kSequenceRows);
    for (int64_t s = 0; s < args.length; ++s) {
      for (int64_t panel = 0; panel < panels; ++panel) run_gates(args, s, d, panel, first, last);
      if (args.cell != RecurrentCell::kGru) continue;
      for (int64_t panel = 0; panel < panels; ++panel) run_candidate(args, s, d, panel, first, last);
    }
  }
}

/// The table of a type.
template <class T>
constexpr RecurrentKernelsOf<T> recurrent_kernels_of() {
  using Args = RecurrentArgsOf<T>;
  using PackArgs = RecurrentPackArgsOf<T>;
  return {packed_bytes<T>,
          {pack_tasks<T>, no_scratch<PackArgs>, checked<PackArgs, pack<T>>()},
          {step_tasks<T>, no_scratch<Args>, checked<Args, run_step<T, run_gates<T>>>()},
          {step_tasks<T>, no_scratch<Args>, checked<Args, run_step<T, run_candidate<T>>>()},
          {sequence_tasks<T>, no_scratch<Args>, checked<Args, run_sequence<T>>()}};
}

}  // namespace
}  // namespace recurrent

constinit const RecurrentKernelsOf<float> recurrent_kernels = recurrent::recurrent_kernels_of<float>();
constinit const RecurrentKernelsOf<double> recurrent_f64_kernels = recurrent::recurrent_kernels_of<double>();

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
