// What stands behind the classes of nn.hpp.
#pragma once
#include <map>
#include <set>

#include "engine/graph/layers/layer.h"
#include "engine/ops/registry.h"
#include "svengine/nn.hpp"

namespace svengine::nn {

struct LayerState {
  layers::Layer layer;

  static Layer wrap(layers::Layer layer) { return Layer(std::make_shared<const LayerState>(LayerState{std::move(layer)})); }
  static const layers::Layer& of(const Layer& layer) { return layer.state_ ? layer.state_->layer : missing(); }

 private:
  /// Stands for one that could not be made.
  static const layers::Layer& missing();
};

struct NetState : std::enable_shared_from_this<NetState> {
  explicit NetState(uint64_t seed) : builder(graph, all_ops()), stream(RandomStream(seed).at("initial weights")) {}

  Graph graph;
  Builder builder;
  RandomStream stream;
  std::vector<Value*> outputs;
  std::vector<std::string> variables;         // made by the caller, of any rank
  std::set<std::string> constants;            // which look like variables, but stay
  std::map<std::string, Tensor> gradients;    // of the last backward()
  std::string call_error;                     // of the last call of value() or backward()

  Var wrap(Value* value) {
    Var out;
    out.net_ = shared_from_this();
    out.value_ = value;
    return out;
  }
  /// Null when there is none.
  static NetState* net_of(const Var& var) { return var.net_.get(); }
  static Value* value_of(const Var& var) { return static_cast<Value*>(var.value_); }

  /// The values of `vars` for a node; a failure is noted when one is of another net or could not be made.
  std::vector<Value*> values_of(const std::vector<Var>& vars);
  /// A copy of what is there, with the outputs.
  Result<Graph> finished() const;
};

}  // namespace svengine::nn
