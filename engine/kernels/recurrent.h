// Steps of recurrent networks, of floats or doubles: RNN, GRU and LSTM, from the sums that the inputs of all steps contribute (a
// matrix product made beforehand) and the state of the step before. With x the sums of inputs and biases, R the weights of the
// state h, and everything element by element but the products with R:
//
//   RNN                     h' = f(x + R h)
//   GRU                     z = f(x_z + R_z h)    r = f(x_r + R_r h)    n = g(x_n + R_n (r h))         h' = (1 - z) n + z h
//   GRU, reset after        z, r the same         q = R_n h + b         n = g(x_n + r q)               h' = (1 - z) n + z h
//   LSTM                    i = f(x_i + R_i h + p_i c)     fo = f(x_f + R_f h + p_f c), or 1 - i with input_forget
//                           g = g(x_c + R_c h)    c' = fo c + i g    o = f(x_o + R_o h + p_o c')       h' = o h(c')
//
// What f, g and h are applied to is clipped to [-clip, clip] before, but for h's. clip, alpha and beta are floats, as ONNX has
// them, for doubles, too. Gates are in ONNX's order: z r n and i o f c.
//
//   R as given:  [gates * hidden][hidden]           packed: [panels of `lanes` units][hidden][gates][lanes], zero beyond hidden;
//                                                   GRU: first z and r like that, then n alone
//
// Step s of a row with `length` steps is at time s, or length - 1 - s in a reverse direction; steps beyond its length leave the state
// alone and write zeros at time s. All strides count elements, nothing may overlap but as said. Work is cut by shape alone.
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

enum class RecurrentCell : int32_t { kRnn, kGru, kGruResetAfter, kLstm };

/// Gates of a cell: blocks of `hidden` rows of R, and of columns of the sums.
constexpr int64_t gates_of(RecurrentCell cell) { return cell == RecurrentCell::kRnn ? 1 : cell == RecurrentCell::kLstm ? 4 : 3; }
/// Blocks of `hidden` that RecurrentArgs::gates holds for a row: RNN h; GRU z r n; reset after z r n q; LSTM i o f g.
constexpr int64_t kept_gates_of(RecurrentCell cell) { return cell == RecurrentCell::kGruResetAfter ? 4 : gates_of(cell); }

enum class RecurrentFunction : int32_t {
  kSigmoid,
  kTanh,
  kRelu,
  kAffine,           // alpha x + beta
  kLeakyRelu,        // x < 0 ? alpha x : x
  kThresholdedRelu,  // x > alpha ? x : 0
  kScaledTanh,       // alpha tanh(beta x)
  kHardSigmoid,      // min(max(alpha x + beta, 0), 1)
  kElu,              // x < 0 ? alpha (e^x - 1) : x
  kSoftsign,         // x / (1 + |x|)
  kSoftplus,         // log(1 + e^x)
};

struct RecurrentActivation {
  RecurrentFunction function = RecurrentFunction::kTanh;
  float alpha = 0, beta = 0;
};

/// Row b of direction d and time t is at t * step + b * row + d * direction.
struct RecurrentStride {
  int64_t step = 0, row = 0, direction = 0;
  constexpr int64_t at(int64_t t, int64_t b, int64_t d) const { return t * step + b * row + d * direction; }
};

template <class T>
struct RecurrentArgsOf {
  RecurrentCell cell = RecurrentCell::kRnn;
  int64_t directions = 1, length = 0, batch = 0, hidden = 0;
  bool reverse[2] = {};                   // of every direction
  RecurrentActivation activation[2][3];   // f, g, h of every direction
  float clip = 0;                         // 0: none
  bool input_forget = false;

  const T* sums = nullptr;  // rows of gates * hidden
  RecurrentStride sums_stride;
  const T* weights = nullptr;  // packed, one direction after the other
  const T* state_bias = nullptr;  // reset after: b [hidden] of each direction, state_bias_direction apart; null: 0
  int64_t state_bias_direction = 0;
  const T* peepholes = nullptr;   // [directions][3][hidden]: p_i, p_o, p_f; null: 0
  const int32_t* lengths = nullptr;   // [batch], each 0 ... length; null: all are `length`

  T* h = nullptr;      // [2][directions][batch][hidden]: step s reads half s % 2 and writes the other
  T* c = nullptr;      // [directions][batch][hidden], LSTM
  T* reset = nullptr;  // [2][directions][batch][hidden], GRU: r h, and z
  T* y = nullptr;      // h' of every step; null: not wanted
  RecurrentStride y_stride;
  T* gates = nullptr;  // what backward needs; null: not wanted
  RecurrentStride gates_stride;
  T* cells = nullptr;  // c' of every step; null: not wanted
  RecurrentStride cells_stride;

  int64_t step = 0;  // of `step` and `candidate`
};

template <class T>
struct RecurrentPackArgsOf {
  RecurrentCell cell = RecurrentCell::kRnn;
  int64_t hidden = 0;
  const T* source = nullptr;  // R of one direction
  T* packed = nullptr;
};

template <class T>
struct RecurrentKernelsOf {
  /// Bytes of one direction's packed R.
  int64_t (*packed_bytes)(RecurrentCell cell, int64_t hidden) noexcept;
  TaskKernel<RecurrentPackArgsOf<T>> pack;
  /// One step of all rows and directions. GRU without reset after: z and r, to be followed by `candidate`, which ends the step.
  TaskKernel<RecurrentArgsOf<T>> step;
  TaskKernel<RecurrentArgsOf<T>> candidate;
  /// All steps; tasks are groups of rows of a direction. For states so small that threads would only wait for one another.
  TaskKernel<RecurrentArgsOf<T>> sequence;
};

using RecurrentArgs = RecurrentArgsOf<float>;
using RecurrentPackArgs = RecurrentPackArgsOf<float>;

}  // namespace svengine::kernels
