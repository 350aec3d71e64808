// LSTM and GRU, unrolled: one product for the inputs of all steps at once, then every step's own nodes.
//
//   x [batch, length, ins] -> x W_ih^T + b_ih -> split by steps -> step 0 -> step 1 -> ..      gates of LSTM: i f g o, of GRU: r z n
#include <cmath>

#include "engine/graph/layers/layer.h"

namespace svengine::layers {
namespace {

using Values = std::vector<Value*>;

struct Cell {
  Scope scope;
  int64_t hidden, gates;
  Value *weight, *bias;  // of the state: [gates, hidden], transposed, and [gates]
  Value *h = nullptr, *c = nullptr;  // null: zeros

  /// W_hh h + b_hh in its gates; before the first step only the bias.
  Values state_gates() {
    Value* sum = h ? scope.op("Add", {scope.op("MatMul", {h, weight}), bias}) : bias;
    return scope.split(sum, -1, std::vector<int64_t>(static_cast<size_t>(gates), hidden));
  }
  Value* gate(const char* function, Value* a, Value* b) { return scope.op(function, {scope.op("Add", {a, b})}); }
};

void lstm_step(Cell& cell, const Values& in) {
  const Values state = cell.state_gates();
  Value *i = cell.gate("Sigmoid", in[0], state[0]), *f = cell.gate("Sigmoid", in[1], state[1]);
  Value *g = cell.gate("Tanh", in[2], state[2]), *o = cell.gate("Sigmoid", in[3], state[3]);
  Value* fresh = cell.scope.op("Mul", {i, g});
  cell.c = cell.c ? cell.scope.op("Add", {cell.scope.op("Mul", {f, cell.c}), fresh}) : fresh;
  cell.h = cell.scope.op("Mul", {o, cell.scope.op("Tanh", {cell.c})});
}

void gru_step(Cell& cell, const Values& in) {
  const Values state = cell.state_gates();
  Value *r = cell.gate("Sigmoid", in[0], state[0]), *z = cell.gate("Sigmoid", in[1], state[1]);
  Value* n = cell.gate("Tanh", in[2], cell.scope.op("Mul", {r, state[2]}));
  Value* fresh = cell.scope.op("Mul", {cell.scope.op("Sub", {cell.scope.number(1), z}), n});
  cell.h = cell.h ? cell.scope.op("Add", {fresh, cell.scope.op("Mul", {z, cell.h})}) : fresh;
}

struct Kind {
  const char* name;
  int64_t gates;
  void (*step)(Cell&, const Values&);
};

/// One layer over all steps: every h, and the state after the last.
struct Unrolled {
  Value* all;
  Value *h, *c;
};

Unrolled unroll(Scope& scope, const Kind& kind, Value* x, int64_t length, int64_t ins, int64_t hidden, const std::string& layer) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  const Initializer how = Initializer::uniform(-bound, bound);
  const int64_t rows = kind.gates * hidden;
  const Attributes transpose = make_attributes({{"perm", std::vector<int64_t>{1, 0}}});
  Value* in_weight = scope.op("Transpose", {scope.parameter("weight_ih_" + layer, {rows, ins}, how)}, transpose);
  Value* weight = scope.op("Transpose", {scope.parameter("weight_hh_" + layer, {rows, hidden}, how)}, transpose);
  Value* in_bias = scope.parameter("bias_ih_" + layer, {rows}, how);
  Cell cell{scope, hidden, kind.gates, weight, scope.parameter("bias_hh_" + layer, {rows}, how)};
  Value* sums = scope.op("Add", {scope.op("MatMul", {x, in_weight}), in_bias});
  const Values steps = scope.split(sums, 1, std::vector<int64_t>(static_cast<size_t>(length), 1));
  Value* axis = scope.builder().integers({1});
  Values all;
  for (Value* step : steps) {
    Value* in = scope.op("Squeeze", {step, axis});
    kind.step(cell, scope.split(in, -1, std::vector<int64_t>(static_cast<size_t>(kind.gates), hidden)));
    all.push_back(scope.op("Unsqueeze", {cell.h, axis}));
  }
  return {scope.op("Concat", std::move(all), make_attributes({{"axis", int64_t{1}}})), cell.h, cell.c};
}

Layer recurrent(const Kind& kind, int64_t ins, int64_t hidden, int64_t layers) {
  Layer out{.kind = kind.name, .outputs = kind.gates == 4 ? size_t{3} : size_t{2}};
  out.build = [=, outputs = out.outputs](Scope scope, const Values& inputs) {
    const Shape& shape = inputs[0]->type.shape;
    if (shape.rank() != 3 || !shape[1].is_static() || shape[1].value() < 1 || layers < 1) {
      scope.fail(error("{} '{}' needs one layer or more, and an input [batch, length, features] of fixed length; got {} and {}",
                       kind.name, scope.prefix(), layers, to_string(inputs[0]->type)));
      return Values(outputs, nullptr);
    }
    const int64_t length = shape[1].value();
    Unrolled state{inputs[0], nullptr, nullptr};
    for (int64_t i = 0; i < layers; ++i)
      state = unroll(scope, kind, state.all, length, i ? hidden : ins, hidden, "l" + std::to_string(i));
    Values results{state.all, state.h, state.c};
    results.resize(outputs);
    return results;
  };
  return out;
}

}  // namespace

Layer lstm(int64_t ins, int64_t hidden, int64_t layers) { return recurrent({"LSTM", 4, lstm_step}, ins, hidden, layers); }

Layer gru(int64_t ins, int64_t hidden, int64_t layers) { return recurrent({"GRU", 3, gru_step}, ins, hidden, layers); }

}  // namespace svengine::layers
