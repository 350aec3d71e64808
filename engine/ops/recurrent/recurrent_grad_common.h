// One step backward of a recurrent cell, element by element: from the gradient of h' to those of what the activations are applied
// to.
#pragma once
#include <memory>

#include "engine/ops/recurrent/recurrent_common.h"

namespace svengine::ops {

/// Inputs of svengine.RecurrentGrad.
enum RecurrentGradInput : size_t {
  kGradDy,
  kGradDyH,
  kGradDyC,
  kGradX,
  kGradW,
  kGradR,
  kGradLengths,
  kGradH,
  kGradC,
  kGradP,
  kGradY,
  kGradGates,
  kGradCells,
};

/// Where everything is. A row of time t and batch b is the one that X has there: `row_of`.
struct RecurrentGradPlace {
  kernels::RecurrentCell cell = kernels::RecurrentCell::kRnn;
  RecurrentSizes sizes;
  bool reverse[2] = {};
  bool batch_first = false;
  Buffer dy, lengths, first_h, first_c, peepholes, y, gates, cells;  // as the node has them; absent: 0, or full length
  Buffer dh, dc;            // [directions][batch][hidden]: gradients of the state, from the last step backward
  Buffer reset_gradient;    // GRU: that of r h, [directions][batch][hidden]
  Buffer current;           // [directions][batch][gates * hidden]: what R is multiplied with, to give dh of the step before
  Buffer inputs, states;    // [directions][rows][gates * hidden]: gradients at the inputs' sums, and at the states' (reset after)
  Buffer before, before_c;  // [directions][rows][hidden]: h and c of the step before
  Buffer reset;             // likewise, GRU: r h

  int64_t rows() const { return sizes.steps * sizes.batch; }
  int64_t row_of(int64_t t, int64_t b) const { return batch_first ? b * sizes.steps + t : t * sizes.batch + b; }
  int64_t width() const { return kernels::gates_of(cell) * sizes.hidden; }
};

/// Step s of row b of direction d, T being float or double. GRU without reset after: from dh to the gradients of n and z;
/// `recurrent_reset_backward` ends it.
template <class T>
void recurrent_step_backward(const RecurrentGradPlace& place, const Run& run, int64_t s, int64_t d, int64_t b);
template <class T>
void recurrent_reset_backward(const RecurrentGradPlace& place, const Run& run, int64_t s, int64_t d, int64_t b);

/// The gradient rule of all three.
Status recurrent_gradient(GradientContext& c);

Status lower_recurrent_grad(LowerContext& c);
/// In double, by plain loops.
Status lower_recurrent_grad_f64(LowerContext& c, const std::shared_ptr<const RecurrentGradPlace>& place);

}  // namespace svengine::ops
