// Recurrent steps: from ranges of tasks to panels of units and tiles of rows.
//
// A task of a step is a panel of `lanes` units for a group of rows, its weights read from the L2 cache of the core that had the
// same panel in the step before; tasks of neighbours are neighbouring panels. What a tile of rows sums up goes to memory of its
// own, from which the cell takes it row by row.
#include "engine/kernels/recurrent.h"

#include "engine/kernels/contract_recurrent.h"
#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/even_partition.h"
#include "engine/kernels/sve/recurrent/cells.h"
#include "engine/kernels/sve/recurrent/product.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

extern const RecurrentKernels recurrent_kernels;

namespace recurrent {
namespace {

/// Rows of a task of a step. Weights of a panel come from L2 once for every tile of rows, whatever the group.
constexpr int64_t kGroupRows = 48;
/// Rows of a task of a whole sequence: one tile of any cell.
constexpr int64_t kSequenceRows = rows_of_tile(4);

int64_t panels_of(int64_t hidden) { return ceil_div(hidden, kLanes); }

/// Floats of packed weights of so many gates.
int64_t panel_floats(int64_t hidden, int64_t gates) { return hidden * gates * kLanes; }

int64_t packed_bytes(RecurrentCell cell, int64_t hidden) noexcept {
  return panels_of(hidden) * panel_floats(hidden, gates_of(cell)) * static_cast<int64_t>(sizeof(float));
}

void pack_panel(const RecurrentPackArgs& args, int64_t panel, int64_t first_gate, int64_t gates, float* to) {
  const int64_t n = args.hidden;
  for (int64_t g = 0; g < gates; ++g)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const int64_t unit = panel * kLanes + lane;
      const float* from = args.source + ((first_gate + g) * n + unit) * n;
      float* at = to + g * kLanes + lane;
      for (int64_t k = 0; k < n; ++k) at[k * gates * kLanes] = unit < n ? from[k] : 0.0f;
    }
}

int64_t pack_tasks(const RecurrentPackArgs& args) noexcept { return panels_of(args.hidden); }

void pack(const RecurrentPackArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t n = args.hidden, gates = gates_of(args.cell);
  for (int64_t panel = begin; panel < end; ++panel) {
    if (args.cell != RecurrentCell::kGru) {
      pack_panel(args, panel, 0, gates, args.packed + panel * panel_floats(n, gates));
      continue;
    }
    pack_panel(args, panel, 0, 2, args.packed + panel * panel_floats(n, 2));
    pack_panel(args, panel, 2, 1, args.packed + panels_of(n) * panel_floats(n, 2) + panel * panel_floats(n, 1));
  }
}

/// Rows [first, last) of a direction at step s, for the units of a panel. `left` is what R is multiplied with, [batch][hidden].
template <int kGates, class Cell>
void run_panel(const RecurrentArgs& args, int64_t s, int64_t d, int64_t panel, int64_t first, int64_t last, const float* left,
               const float* weights, const Cell& cell) {
  constexpr int kRows = rows_of_tile(kGates);
  alignas(64) float products[kRows * kGates * kLanes];
  const int64_t unit = panel * kLanes;
  const vb p = svwhilelt_b32(unit, args.hidden);
  const EvenPartition tiles(last - first, ceil_div(last - first, kRows));
  for (int64_t tile = 0; tile < ceil_div(last - first, kRows); ++tile) {
    const int64_t from = first + tiles.begin(tile), rows = tiles.size(tile);
    multiply<kGates>(rows, args.hidden, left + from * args.hidden, args.hidden,
                     weights + panel * panel_floats(args.hidden, kGates), products);
    for (int64_t r = 0; r < rows; ++r) {
      bool live = false;
      const Row row = row_at(args, s, d, from + r, unit, live);
      if (live)
        cell(args, d, unit, p, products + r * kGates * kLanes, row);
      else if (args.cell != RecurrentCell::kGru || kGates == 1)  // GRU's step ends with its candidate
        rest(args, p, row);
    }
  }
}

/// The first pass of a step; of all cells but GRU the only one.
void run_gates(const RecurrentArgs& args, int64_t s, int64_t d, int64_t panel, int64_t first, int64_t last) {
  const int64_t half = args.directions * args.batch * args.hidden;
  const float* h = args.h + (s % 2) * half + d * args.batch * args.hidden;
  const float* w = args.weights + d * (packed_bytes(args.cell, args.hidden) / 4);
  const bool usual = are_usual(args, d);
  switch (args.cell) {
    case RecurrentCell::kRnn:
      return run_panel<1>(args, s, d, panel, first, last, h, w, rnn_row);
    case RecurrentCell::kGru:
      return run_panel<2>(args, s, d, panel, first, last, h, w, usual ? gru_gates_row<true> : gru_gates_row<false>);
    case RecurrentCell::kGruResetAfter:
      return run_panel<3>(args, s, d, panel, first, last, h, w, usual ? gru_reset_after_row<true> : gru_reset_after_row<false>);
    case RecurrentCell::kLstm:
      return run_panel<4>(args, s, d, panel, first, last, h, w, usual && !args.peepholes ? lstm_usual_row : lstm_row);
  }
}

void run_candidate(const RecurrentArgs& args, int64_t s, int64_t d, int64_t panel, int64_t first, int64_t last) {
  const float* reset = args.reset + d * args.batch * args.hidden;
  const float* w =
      args.weights + d * (packed_bytes(args.cell, args.hidden) / 4) + panels_of(args.hidden) * panel_floats(args.hidden, 2);
  run_panel<1>(args, s, d, panel, first, last, reset, w, gru_candidate_row);
}

int64_t groups_of(const RecurrentArgs& args) { return ceil_div(args.batch, kGroupRows); }

int64_t step_tasks(const RecurrentArgs& args) noexcept { return args.directions * panels_of(args.hidden) * groups_of(args); }

using Pass = void (*)(const RecurrentArgs&, int64_t s, int64_t d, int64_t panel, int64_t first, int64_t last);

/// Every second step goes backwards, so that the weights which are read first are those that the step before has left in the
/// cache.
template <Pass kPass>
void run_step(const RecurrentArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t groups = groups_of(args), panels = panels_of(args.hidden);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t task = args.step % 2 == 0 ? i : begin + end - 1 - i;
    const int64_t group = task % groups, panel = task / groups % panels, first = group * kGroupRows;
    kPass(args, args.step, task / groups / panels, panel, first, smaller(args.batch, first + kGroupRows));
  }
}

int64_t sequence_tasks(const RecurrentArgs& args) noexcept { return args.directions * ceil_div(args.batch, kSequenceRows); }

void run_sequence(const RecurrentArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t blocks = ceil_div(args.batch, kSequenceRows), panels = panels_of(args.hidden);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d = task / blocks, first = task % blocks * kSequenceRows, last = smaller(args.batch, first + kSequenceRows);
    for (int64_t s = 0; s < args.length; ++s) {
      for (int64_t panel = 0; panel < panels; ++panel) run_gates(args, s, d, panel, first, last);
      if (args.cell != RecurrentCell::kGru) continue;
      for (int64_t panel = 0; panel < panels; ++panel) run_candidate(args, s, d, panel, first, last);
    }
  }
}

}  // namespace
}  // namespace recurrent

const RecurrentKernels recurrent_kernels{
    recurrent::packed_bytes,
    {recurrent::pack_tasks, no_scratch<RecurrentPackArgs>, checked<RecurrentPackArgs, recurrent::pack>()},
    {recurrent::step_tasks, no_scratch<RecurrentArgs>, checked<RecurrentArgs, recurrent::run_step<recurrent::run_gates>>()},
    {recurrent::step_tasks, no_scratch<RecurrentArgs>, checked<RecurrentArgs, recurrent::run_step<recurrent::run_candidate>>()},
    {recurrent::sequence_tasks, no_scratch<RecurrentArgs>, checked<RecurrentArgs, recurrent::run_sequence>()},
};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
