#include "runtime/train/step_graph.h"

#include <algorithm>
#include <cmath>

#include "engine/graph/autodiff.h"
#include "engine/ops/registry.h"
#include "runtime/train/modes.h"

namespace svengine {
namespace {

struct LossNodes {
  Value* loss = nullptr;
  Value* right = nullptr;  // int64 of rank 0; 0 where there are no labels
};

/// Scores [.., classes] and labels [..] as [n, classes] and [n].
Status flatten(Builder& b, Value*& scores, Value*& labels) {
  const Dim& classes = scores->type.shape.back();
  if (!classes.is_static())
    return error("the number of classes of '{}' {} is not known", scores->name(), to_string(scores->type));
  scores = b.add("Reshape", {scores, b.integers({-1, classes.value()})}, {}, "scores");
  labels = b.add("Reshape", {labels, b.integers({-1})}, {}, "labels");
  return b.status();
}

Result<LossNodes> add_loss_nodes(Graph& graph, const LossChoice& choice, Value* target) {
  Builder b(graph, all_ops());
  SV_ASSIGN(Value * prediction, prediction_of(graph, choice));
  LossOptions options;
  options.beta = choice.beta;
  options.label_smoothing = choice.label_smoothing;
  options.ignore_index = choice.ignore_index;
  if (!choice.class_weights.empty())
    options.class_weights = b.constant(
        Tensor::of<float>({static_cast<int64_t>(choice.class_weights.size())}, std::span(choice.class_weights)), "class_weights");
  LossNodes out;
  if (choice.on_labels()) {
    SV_ASSIGN(const int64_t axis, class_axis_of(*prediction, choice));
    if (axis != 1) SV_TRY(flatten(b, prediction, target));
    Value* answer = b.add("ArgMax", {prediction}, make_attributes({{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}), "answer");
    Value* hits = b.add("Cast", {b.add("Equal", {answer, target})}, make_attributes({{"to", int64_t{7}}}), "hits");  // 7: int64
    out.right = b.add("ReduceSum", {hits}, make_attributes({{"keepdims", int64_t{0}}}), "right");
  } else {
    out.right = b.constant(Tensor::scalar<int64_t>(0), "right");
  }
  out.loss = add_loss(b, choice.kind, prediction, target, options);
  SV_TRY(b.status());
  return out;
}

/// Gradients times min(1, limit / (norm of all + 1e-6)), as torch.nn.utils.clip_grad_norm_ does it.
void clip(Builder& b, std::vector<Value*>& gradients, double limit) {
  std::vector<Value*> squares;
  for (Value* g : gradients)
    squares.push_back(b.add("ReduceSumSquare", {g}, make_attributes({{"keepdims", int64_t{0}}}), "squares"));
  Value* norm = b.add("Sqrt", {b.add("Sum", squares)}, {}, "gradient_norm");
  Value* room = b.add("Add", {norm, b.constant(Tensor::scalar(1e-6f))});
  Value* factor = b.add("Div", {b.constant(Tensor::scalar(static_cast<float>(limit))), room});
  factor = b.add("Min", {factor, b.constant(Tensor::scalar(1.0f))}, {}, "clip_factor");
  for (Value*& g : gradients) g = b.add("Mul", {g, factor}, {}, g ? g->name() + ".clipped" : "");
}

std::vector<std::string> trained_names(const Graph& graph, const StepGraphOptions& options) {
  std::vector<std::string> out;
  for (const Value* v : trainable_constants(graph))
    if (v->type.dtype == DType::f32 && !options.frozen(v->name())) out.push_back(v->name());
  return out;
}

struct BuiltStep {
  StepGraph step;
  std::vector<std::string> unreached;  // constants without influence on the loss
};

/// Appends the new weights and then the new states to `outputs`, and what the states are to built.step.state.
Status add_updates(BuiltStep& built, Builder& b, const StepGraphOptions& options, Value* rate, Value* step,
                   const std::vector<Value*>& weights, std::vector<Value*> gradients,
                   const std::vector<RunningStatistic>& statistics, std::vector<Value*>& outputs) {
  if (options.clip_norm > 0) clip(b, gradients, options.clip_norm);
  const std::vector<const char*> kinds = options.optimizer.states();
  std::vector<Value*> states;
  for (size_t i = 0; i < weights.size(); ++i) {
    std::vector<Value*> inputs;
    for (const char* kind : kinds) {
      inputs.push_back(b.graph().add_input(fmt::format("optimizer/{}/{}", kind, weights[i]->name()), weights[i]->type));
      built.step.state.push_back({inputs.back()->name(), inputs.back()->type});
    }
    const std::vector<Value*> updated = add_optimizer_step(b, options.optimizer, rate, step, weights[i], gradients[i], inputs);
    SV_TRY(b.status());
    outputs.push_back(updated[0]);
    states.insert(states.end(), updated.begin() + 1, updated.end());
  }
  for (const RunningStatistic& s : statistics) outputs.push_back(s.updated);
  outputs.insert(outputs.end(), states.begin(), states.end());
  return {};
}

/// The new sums, appended to `outputs`: a plain step of rate -1 adds the gradient, in place and never fused with what makes it.
Status add_sums(BuiltStep& built, Builder& b, Value* step, const std::vector<Value*>& weights, const std::vector<Value*>& gradients,
                std::vector<Value*>& outputs) {
  Value* rate = b.constant(Tensor::scalar(-1.0f), "minus_one");
  for (size_t i = 0; i < weights.size(); ++i) {
    Value* sum = b.graph().add_input("accumulated/" + weights[i]->name(), weights[i]->type);
    built.step.state.push_back({sum->name(), sum->type});
    const Node* node = b.node(kInternalDomain, "Sgd", {rate, step, sum, gradients[i]}, 1, {}, "accumulate." + weights[i]->name());
    SV_TRY(b.status());
    outputs.push_back(node->output());
  }
  built.step.sums = weights.size();
  return {};
}

/// The graph that ends a group of batches.
Status make_update(BuiltStep& built, const StepGraphOptions& options) {
  Builder b(built.step.update, all_ops());
  Value* rate = b.input("rate", DType::f32, Shape::of({}));
  Value* step = b.input("step", DType::i64, Shape::of({}));
  Value* share = b.input("share", DType::f32, Shape::of({}));
  std::vector<Value*> weights, gradients, outputs;
  const std::vector<StateTensor> state = built.step.state;
  for (size_t i = 0; i < built.step.weights; ++i) weights.push_back(b.graph().add_input(state[i].name, state[i].type));
  for (size_t i = built.step.weights + built.step.statistics; i < state.size(); ++i) {
    Value* sum = b.graph().add_input(state[i].name, state[i].type);
    gradients.push_back(b.add("Mul", {sum, share}, {}, state[i].name + ".mean"));
  }
  SV_TRY(b.status());
  SV_TRY(add_updates(built, b, options, rate, step, weights, std::move(gradients), {}, outputs));
  for (Value* v : outputs) b.output(v);
  return {};
}

/// Puts `values` first among the outputs; further ones of the network stay behind them, where they cost nothing.
void set_outputs(Graph& graph, const std::vector<Value*>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i < graph.outputs().size())
      graph.set_output(i, values[i]);
    else
      graph.add_output(values[i]);
  }
}

/// Of the forward pass; the new statistics, which nobody reads yet, stay.
Status simplify(Graph& graph, const std::vector<RunningStatistic>& statistics, const PassContext& context) {
  for (const RunningStatistic& s : statistics) graph.add_output(s.updated);
  return prepare_for_gradients(graph, context);
}

Result<BuiltStep> make(const Graph& network, const StepGraphOptions& options, const std::vector<std::string>& names,
                  const PassContext& context) {
  BuiltStep built;
  built.step.graph = network.clone();
  Graph& graph = built.step.graph;
  built.step.data_inputs = graph.inputs().size();
  SV_ASSIGN(const Value* prediction, prediction_of(graph, options.loss));
  SV_ASSIGN(Type type, target_type(*prediction, options.loss));
  Value* target = graph.add_input("target", std::move(type));
  Value* rate = graph.add_input("rate", {DType::f32, Shape::of({}), 0});
  Value* step = graph.add_input("step", {DType::i64, Shape::of({}), 0});
  SV_ASSIGN(const std::vector<RunningStatistic> statistics, to_training_form(graph, step, options.seed, options.frozen));
  std::vector<std::string> inputs = names;
  for (const RunningStatistic& s : statistics) inputs.push_back(s.constant->name());
  SV_ASSIGN(const std::vector<Tensor> values, constants_to_inputs(graph, inputs));
  SV_TRY(simplify(graph, statistics, context));
  SV_ASSIGN(const LossNodes loss, add_loss_nodes(graph, options.loss, target));
  const size_t first = built.step.data_inputs + 3;
  std::vector<Value*> weights(graph.inputs().begin() + static_cast<int64_t>(first),
                              graph.inputs().begin() + static_cast<int64_t>(first + names.size()));
  for (size_t i = first; i < graph.inputs().size(); ++i)
    built.step.state.push_back({graph.inputs()[i]->name(), graph.inputs()[i]->type});
  built.step.weights = names.size();
  built.step.statistics = statistics.size();

  const GradientSeed seed{loss.loss, nullptr};
  SV_ASSIGN(const std::vector<Value*> gradients, add_gradients(graph, all_ops(), std::span(&seed, 1), weights));
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i]) built.unreached.push_back(names[i]);
  if (!built.unreached.empty()) return built;

  std::vector<Value*> outputs{loss.loss, loss.right};
  Builder b(graph, all_ops());
  if (options.accumulate > 1) {
    for (const RunningStatistic& s : statistics) outputs.push_back(s.updated);
    SV_TRY(add_sums(built, b, step, weights, gradients, outputs));
    SV_TRY(make_update(built, options));
  } else {
    SV_TRY(add_updates(built, b, options, rate, step, weights, gradients, statistics, outputs));
  }
  set_outputs(graph, outputs);
  return built;
}

Status check_class_weights(const Value& prediction, int64_t axis, const std::vector<float>& weights) {
  const Dim& classes = prediction.type.shape[static_cast<size_t>(axis)];
  if (!weights.empty() && classes.is_static() && classes.value() != static_cast<int64_t>(weights.size()))
    return error("{} class weights for the {} classes of output '{}' {}", weights.size(), classes.value(), prediction.name(),
                 to_string(prediction.type));
  const auto bad = std::find_if(weights.begin(), weights.end(), [](float w) { return !(w >= 0) || std::isinf(w); });
  if (bad != weights.end()) return error("class weight {} is {}: it must be 0 or more, and finite", bad - weights.begin(), *bad);
  return {};
}

}  // namespace

Result<Value*> prediction_of(const Graph& network, const LossChoice& loss) {
  if (network.outputs().empty()) return error("the network has no output");
  if (loss.output.empty()) return network.outputs().front();
  std::string names;
  for (Value* v : network.outputs()) {
    if (v->name() == loss.output) return v;
    names += (names.empty() ? "" : ", ") + v->name();
  }
  return error("the network has no output '{}'; its outputs are {}", loss.output, names);
}

Result<int64_t> class_axis_of(const Value& prediction, const LossChoice& loss) {
  const Shape& shape = prediction.type.shape;
  if (!shape.has_rank() || shape.rank() < 2)
    return error("the loss needs scores of shape [samples, classes, ..]; output '{}' is {}", prediction.name(),
                 to_string(prediction.type));
  const int64_t axis = loss.class_axis.value_or(shape.rank() == 3 ? 2 : 1), positive = axis < 0 ? axis + shape.rank() : axis;
  if (positive < 1 || positive >= shape.rank())
    return unimplemented("class axis {} of output '{}' {}: it must be one of the dimensions 1 to {}", axis, prediction.name(),
                         to_string(prediction.type), shape.rank() - 1);
  if (positive != 1 && positive != shape.rank() - 1)
    return error("class axis {} of output '{}' {}: only dimension 1 and the last are supported", axis, prediction.name(),
                 to_string(prediction.type));
  return positive;
}

Result<Type> target_type(const Value& prediction, const LossChoice& loss) {
  if (prediction.type.dtype != DType::f32)
    return error("the loss needs a float32 prediction; output '{}' is {}", prediction.name(), to_string(prediction.type));
  if (!loss.on_labels()) return prediction.type;
  SV_ASSIGN(const int64_t axis, class_axis_of(prediction, loss));
  SV_TRY(check_class_weights(prediction, axis, loss.class_weights));
  std::vector<Dim> dims = prediction.type.shape.dims();
  dims.erase(dims.begin() + axis);
  return Type{DType::i64, Shape(std::move(dims))};
}

Result<StepGraph> make_training_step(const Graph& network, const StepGraphOptions& options, const PassContext& context) {
  std::vector<std::string> names = trained_names(network, options);
  SV_ASSIGN(BuiltStep built, make(network, options, names, context));
  if (!built.unreached.empty()) {
    std::erase_if(names, [&](const std::string& n) {
      return std::find(built.unreached.begin(), built.unreached.end(), n) != built.unreached.end();
    });
    SV_ASSIGN(built, make(network, options, names, context));
  }
  if (names.empty())
    return error(
        "there is nothing to train: no float32 constant of rank 1 or more that the loss depends on and that is not frozen");
  return std::move(built.step);
}

Result<EvaluationGraph> make_evaluation(const Graph& network, const LossChoice& loss, const std::vector<std::string>& state) {
  EvaluationGraph out{network.clone(), network.inputs().size()};
  SV_ASSIGN(const Value* prediction, prediction_of(out.graph, loss));
  SV_ASSIGN(Type type, target_type(*prediction, loss));
  Value* target = out.graph.add_input("target", std::move(type));
  SV_ASSIGN(const LossNodes nodes, add_loss_nodes(out.graph, loss, target));
  SV_ASSIGN(const std::vector<Tensor> values, constants_to_inputs(out.graph, state));
  out.graph.add_output(nodes.loss);
  out.graph.add_output(nodes.right);
  return out;
}

}  // namespace svengine
