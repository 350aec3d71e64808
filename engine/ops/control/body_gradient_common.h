// Gradients of nodes with bodies. The node of the gradient has a body too, which computes the forward body's nodes again, from the values
// that a trip began with, and behind them their gradients (graph/autodiff.h). So nothing of a trip is kept but the values it began with.
//
//     Scan, Loop:  s1 = f(s0, x0, w)   s2 = f(s1, x1, w)   ...        forward, giving s0, s1, .. as one more scanned value
//                  a Scan over s, x and dy, the last slice first:  ds, dw  ->  df(s, x, w) ds, dw + ..;  dx is scanned
//
// It makes as many trips as were made, also where a condition ended the loop.
#pragma once
#include <vector>

#include "engine/graph/gradient.h"

namespace svengine::ops {

/// An own input of a body that is repeated, or an output: all of its slices are `stacked` along `axis`, the first trip's slice last where
/// `reversed`.
struct Slices {
  Value* stacked = nullptr;
  int64_t axis = 0;
  bool reversed = false;
};

/// A node whose body is repeated. Inputs of the body are described in its order, without those that it captures.
struct RepeatedBody {
  const Graph* body = nullptr;
  struct Input {
    Slices slices = {};         // of a state: what it was before each trip; without `stacked`: `value`, the same in all trips
    Tensor value = {};
    int state = -1;             // which state of the loop this is; -1: none
    int node_input = -1;        // of the node, that gets the gradient; -1: none
  };
  struct Output {
    int state = -1;             // the next value of that state; -1: a scanned value, or nothing
    Slices gradient = {};       // of a scanned value; without `stacked`: none
  };
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<int> node_outputs;  // of each state, the node's output
  size_t captured = 0;
};

/// Adds the backward Scan and sets the gradients of states, scanned inputs and captured values.
Status differentiate_repeated(GradientContext& c, const RepeatedBody& loop);

/// Of If: both branches' gradients in an If.
Status if_gradient(GradientContext& c);

/// The node with a body that also gives, as its last outputs, the own inputs `kept` of the body. Gives the node's outputs for them.
Result<std::vector<Value*>> keep_body_inputs(GradientContext& c, const std::vector<size_t>& kept);

}  // namespace svengine::ops
