// LSTM and GRU on ONNX's operators. PyTorch's parameters have their gates in another order, which is changed on the way;
// constants of a session are folded.
//
//   PyTorch: i f g o, r z n        ONNX: i o f c, z r h        both biases of PyTorch's, of inputs and of states, are ONNX's B
#include <cmath>

#include "engine/graph/layers/layer.h"

namespace svengine::layers {
namespace {

using Values = std::vector<Value*>;

struct Kind {
  const char* name;
  std::vector<size_t> order;  // of PyTorch's gates, as ONNX has them
  Attributes attributes;
};

/// Blocks of dimension 0 in ONNX's order.
Value* in_order(Scope& scope, const Kind& kind, Value* value, int64_t hidden) {
  const Values gates = scope.split(value, 0, std::vector<int64_t>(kind.order.size(), hidden));
  Values ordered;
  for (const size_t gate : kind.order) ordered.push_back(gates[gate]);
  return scope.op("Concat", std::move(ordered), make_attributes({{"axis", int64_t{0}}}));
}

/// One layer over all steps: every h, and the state after the last.
struct Steps {
  Value* all;
  Value *h, *c;
};

Steps one_layer(Scope& scope, const Kind& kind, Value* x, int64_t ins, int64_t hidden, const std::string& layer) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  const Initializer how = Initializer::uniform(-bound, bound);
  const int64_t rows = static_cast<int64_t>(kind.order.size()) * hidden;
  Value *first = scope.builder().integers({0}), *second = scope.builder().integers({1}), *third = scope.builder().integers({2});
  const auto parameter = [&](const std::string& name, Dims dims) {
    return in_order(scope, kind, scope.parameter(name + layer, std::move(dims), how), hidden);
  };
  Value* w = scope.op("Unsqueeze", {parameter("weight_ih_", {rows, ins}), first});
  Value* r = scope.op("Unsqueeze", {parameter("weight_hh_", {rows, hidden}), first});
  Value *in_bias = parameter("bias_ih_", {rows}), *state_bias = parameter("bias_hh_", {rows});
  Value* b = scope.op("Unsqueeze", {scope.op("Concat", {in_bias, state_bias}, make_attributes({{"axis", int64_t{0}}})), first});
  Attributes attributes = kind.attributes;
  attributes.set("hidden_size", hidden);
  attributes.set("layout", int64_t{1});
  const bool lstm = kind.order.size() == 4;
  const Node* node = scope.builder().node("", kind.name, {x, w, r, b}, lstm ? 3 : 2, std::move(attributes));
  if (!node) return {nullptr, nullptr, nullptr};
  return {scope.op("Squeeze", {node->output(0), third}), scope.op("Squeeze", {node->output(1), second}),
          lstm ? scope.op("Squeeze", {node->output(2), second}) : nullptr};
}

Layer recurrent(const Kind& kind, int64_t ins, int64_t hidden, int64_t layers) {
  Layer out{.kind = kind.name, .outputs = kind.order.size() == 4 ? size_t{3} : size_t{2}};
  out.build = [=, outputs = out.outputs](Scope scope, const Values& inputs) {
    if (inputs[0]->type.shape.rank() != 3 || layers < 1 || hidden < 1) {
      scope.fail(
          error("{} '{}' needs one layer or more of one unit or more, and an input [batch, length, features]; got {}, {} and {}",
                kind.name, scope.prefix(), layers, hidden, to_string(inputs[0]->type)));
      return Values(outputs, nullptr);
    }
    Steps steps{inputs[0], nullptr, nullptr};
    for (int64_t i = 0; i < layers && steps.all; ++i)
      steps = one_layer(scope, kind, steps.all, i ? hidden : ins, hidden, "l" + std::to_string(i));
    Values results{steps.all, steps.h, steps.c};
    results.resize(outputs);
    return results;
  };
  return out;
}

}  // namespace

Layer lstm(int64_t ins, int64_t hidden, int64_t layers) { return recurrent({"LSTM", {0, 3, 1, 2}, {}}, ins, hidden, layers); }

Layer gru(int64_t ins, int64_t hidden, int64_t layers) {
  return recurrent({"GRU", {1, 0, 2}, make_attributes({{"linear_before_reset", int64_t{1}}})}, ins, hidden, layers);
}

}  // namespace svengine::layers
