// What RNN, GRU and LSTM share: inputs X, W, R, B, sequence_lens, initial_h and, of LSTM, initial_c and P; outputs Y, Y_h and, of
// LSTM, Y_c, and behind them what their gradients ask for (recurrent_grad_common.h): of GRU and LSTM the gates of every step,
// [steps, batch, directions, kept gates * hidden] (kernels/recurrent.h), and of LSTM the cells, [steps, batch, directions,
// hidden].
#pragma once
#include "engine/graph/op_def.h"
#include "engine/kernels/recurrent.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// A node's attributes, checked.
struct RecurrentOptions {
  kernels::RecurrentCell cell = kernels::RecurrentCell::kRnn;
  int64_t directions = 1;
  bool reverse[2] = {};
  kernels::RecurrentActivation activation[2][3];
  bool usual_activations = true;  // those that a node has which names none
  float clip = 0;
  bool input_forget = false;
  bool batch_first = false;  // layout 1
};

/// How many directions attribute "direction" names; an error where it is none of the three that there are.
Result<int64_t> recurrent_directions(const Attributes& attributes);

Result<RecurrentOptions> recurrent_options(const Node& node);

/// An LSTM's attributes as one of direction `direction` (0 or 1) alone has them, whose activations take their part of both lists of parameters.
Result<Attributes> lstm_attributes_of(const Attributes& attributes, int64_t direction);

struct RecurrentSizes {
  int64_t steps = 0, batch = 0, ins = 0, directions = 1, hidden = 0;
};
/// All shapes being concrete.
RecurrentSizes recurrent_sizes(const Node& node, const RecurrentOptions& options);

/// Those that LSTM, GRU and RNN of every domain have.
std::vector<AttributeDef> recurrent_attributes();

/// Everything of an OpDef but its name, versions, samples and own attributes. `gates`: 1, 3 or 4.
OpDef recurrent_op(const char* name, int gates);

Status infer_recurrent(InferContext& c);
Status lower_recurrent(LowerContext& c);
/// OpDef::check_values of these: sequence_lens.
Status check_recurrent_lengths(LowerContext& c);

/// Strides of Y and of states under both layouts.
kernels::RecurrentStride recurrent_y_stride(const RecurrentSizes& sizes, bool batch_first);
kernels::RecurrentStride recurrent_state_stride(const RecurrentSizes& sizes, bool batch_first);

}  // namespace svengine::ops
