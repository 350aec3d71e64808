// Recurrent cells in double precision by their formulas (kernels/recurrent.h): the oracle of the recurrent kernels.
#pragma once
#include <cstdint>

#include "engine/kernels/recurrent.h"

namespace svengine::kernels {

/// NaN stays NaN.
double reference_function(const RecurrentActivation& activation, double x);

/// One unit of a row at one step. x: what inputs and biases contribute to each gate; q: R h of each (GRU's n: R (r h)); without
/// meaning for other cells: state_bias (reset after), and peepholes p_i, p_o, p_f, c (LSTM).
struct ReferenceUnit {
  RecurrentCell cell = RecurrentCell::kRnn;
  const RecurrentActivation* activation = nullptr;  // f, g, h
  double clip = 0;
  bool input_forget = false;
  double x[4] = {}, q[4] = {};
  double state_bias = 0;
  bool has_peepholes = false;  // without them an infinite c gives no 0 * c
  double peepholes[3] = {};
  double h = 0, c = 0;
};
struct ReferenceState {
  double h = 0, c = 0;
  double gates[4] = {};  // RecurrentArgs::gates
};

ReferenceState reference_unit(const ReferenceUnit& unit);
/// z (gate 0) or r (gate 1) of a GRU.
double reference_gate(const ReferenceUnit& unit, int gate);

/// A whole sequence of one row and direction from inputs and weights as ONNX has them. w: [gates * hidden][ins], r: [gates *
/// hidden][hidden], biases [2 * gates * hidden] and peepholes [3 * hidden] null for 0.
struct ReferenceSequence {
  RecurrentCell cell = RecurrentCell::kRnn;
  const RecurrentActivation* activation = nullptr;
  double clip = 0;
  bool input_forget = false, reverse = false;
  int64_t length = 0, ins = 0, hidden = 0;  // steps of this row
  const double* x = nullptr;                // of time t at t * x_step
  int64_t x_step = 0;
  const double *w = nullptr, *r = nullptr, *biases = nullptr, *peepholes = nullptr;
  double* h = nullptr;      // [hidden]: the first state, and afterwards the last
  double* c = nullptr;      // likewise; LSTM
  double* y = nullptr;      // null: not wanted; of time t at t * y_step
  int64_t y_step = 0;
  double *gates = nullptr, *cells = nullptr;  // of time t, likewise: RecurrentArgs::gates of the row, and c; LSTM has both
  int64_t gates_step = 0, cells_step = 0;
  double* scratch = nullptr;  // 6 * hidden
};

void reference_sequence(const ReferenceSequence& sequence);

}  // namespace svengine::kernels
