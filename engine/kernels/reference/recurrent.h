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

}  // namespace svengine::kernels
