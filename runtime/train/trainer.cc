#include "runtime/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/memory.h"
#include "engine/graph/autodiff.h"
#include "engine/graph/capture_constants.h"
#include "engine/graph/passes/pass.h"
#include "runtime/train/anomaly.h"
#include "runtime/train/modes.h"
#include "runtime/train/initial_weights.h"

namespace svengine {
namespace {

constexpr size_t kResults = 2;  // loss, right: outputs before what is kept

/// Exported for one sample or for many: dimension 0 of every input becomes the batch.
Status free_batch(Graph& graph) {
  for (Value* v : graph.inputs())
    if (v->type.shape.has_rank() && v->type.shape.rank() > 0 && v->type.shape[0].is_static())
      v->type.shape.set(0, Dim(std::string("batch")));
  if (Status status = infer_all(graph); !status.ok())
    return std::move(status).error().in("the network does not take batches of any size (export it with dynamic axes)");
  return {};
}

std::map<std::string, Value*> constants_of(const Graph& graph) {
  std::map<std::string, Value*> out;
  graph.for_each_value([&](Value& v) {
    if (v.is_constant()) out[v.name()] = &v;
  });
  return out;
}

Session::Port port_of(const Value& value) { return {value.name(), value.type}; }

/// One that is not a number would end every weight, silently.
Status check_rate(double rate) {
  if (rate >= 0 && std::isfinite(static_cast<float>(rate))) return {};
  return error("the learning rate is {}; it must be 0 or more, and finite in float32", rate);
}

}  // namespace

Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::create(Graph network, TrainerOptions options) {
  if (options.session.shard) return error("training shares every step among all threads; cutting the batch into shards is for inference");
  std::unique_ptr<Trainer> trainer(new Trainer);
  trainer->options_ = std::move(options);
  if (trainer->options_.step.accumulate < 1) return error("accumulate is {}, must be 1 or more", trainer->options_.step.accumulate);
  capture_shared_constants(network);  // before constants that only bodies read are thrown away
  SV_TRY(to_inference_form(network));
  SV_TRY(free_batch(network));
  trainer->network_ = std::move(network);
  SessionOptions& session = trainer->options_.session;
  SV_TRY(choose_kernels(session));
  SV_ASSIGN(trainer->graph_, make_training_step(trainer->network_, trainer->options_.step, pass_context(*session.kernels)));
  SV_TRY(trainer->take_values());
  SV_TRY(trainer->make_sessions());
  return trainer;
}

Status Trainer::take_values() {
  const std::map<std::string, Value*> constants = constants_of(network_);
  const RandomStream stream = RandomStream(options_.step.seed).at("initial weights");
  const size_t begun = graph_.weights + graph_.statistics;
  for (size_t i = 0; i < graph_.state.size(); ++i) {
    const StateTensor& k = graph_.state[i];
    if (i >= begun) {
      SV_ASSIGN(MutableTensor state, Tensor::allocate(k.type.dtype, *k.type.shape.concrete()));
      std::memset(state.raw(), 0, state.byte_size());
      kept_.push_back(std::move(state));
    } else if (options_.initialise) {
      SV_ASSIGN(MutableTensor value, initial_value(*constants.at(k.name), stream));
      kept_.push_back(std::move(value));
    } else {
      const Tensor& given = constants.at(k.name)->constant();
      SV_ASSIGN(MutableTensor value, given.aligned_copy());
      release_pages(given.owner(), {given.raw(), given.byte_size()});  // of the model's file: nobody reads them again
      kept_.push_back(std::move(value));
    }
  }
  places_.resize(kResults);
  const auto weights_end = kept_.begin() + static_cast<int64_t>(graph_.weights);
  const auto sums_end = weights_end + static_cast<int64_t>(graph_.statistics + graph_.sums);
  if (accumulates()) {
    places_.insert(places_.end(), weights_end, sums_end);
    update_places_.assign(kept_.begin(), weights_end);
    update_places_.insert(update_places_.end(), sums_end, kept_.end());
  } else {
    places_.insert(places_.end(), kept_.begin(), kept_.end());
  }
  return {};
}

Status Trainer::make_sessions() {
  const std::vector<Value*>& inputs = graph_.graph.inputs();
  for (size_t i = 0; i < graph_.data_inputs; ++i) data_.push_back(port_of(*inputs[i]));
  target_ = port_of(*inputs[graph_.data_inputs]);
  SV_ASSIGN(const Value* prediction, prediction_of(network_, options_.step.loss));
  if (options_.step.loss.on_labels()) {
    SV_ASSIGN(const int64_t axis, class_axis_of(*prediction, options_.step.loss));
    if (const Dim& classes = prediction->type.shape[static_cast<size_t>(axis)]; classes.is_static()) classes_ = classes.value();
  }
  SessionOptions session = options_.session;
  session.recompute = options_.recompute;
  SV_ASSIGN(training_, Session::create(graph_.graph.clone(), std::move(session)));
  if (accumulates()) {
    SV_ASSIGN(updating_, Session::create(graph_.update.clone(), options_.session));
  }
  if (!options_.detect_anomaly) graph_.graph = Graph(), graph_.update = Graph();
  std::vector<std::string> names;
  for (size_t i = 0; i < graph_.weights + graph_.statistics; ++i) names.push_back(graph_.state[i].name);
  SV_ASSIGN(EvaluationGraph evaluation, make_evaluation(network_, options_.step.loss, names));
  SV_ASSIGN(evaluation_, Session::create(std::move(evaluation.graph), options_.session));
  return {};
}

Result<Dims> Trainer::target_dims(const std::vector<Tensor>& data) const {
  if (data.size() != data_.size()) return error("got {} tensors of data, the network has {} inputs", data.size(), data_.size());
  std::vector<Dims> dims;
  for (const Tensor& t : data) dims.push_back(t.dims());
  SV_ASSIGN(const Graph graph, specialize(network_, dims, {}, pass_context(*options_.session.kernels)));
  SV_ASSIGN(const Value* prediction, prediction_of(graph, options_.step.loss));
  SV_ASSIGN(const Type type, target_type(*prediction, options_.step.loss));
  const std::optional<Dims> concrete = type.shape.concrete();
  if (!concrete) return error("the shape of the target {} depends on the data's values", to_string(type));
  return *concrete;
}

/// What Session says of a target that does not fit would speak of symbols; labels are checked one by one besides.
Status Trainer::check_target(const std::vector<Tensor>& data, const Tensor& target) const {
  if (data.size() != data_.size()) return error("got {} tensors of data, the network has {} inputs", data.size(), data_.size());
  if (target.type() != target_.type.dtype)
    return error("the target needs {}, got {}[{}]", to_string(target_.type), name_of(target.type()), to_string(target.dims()));
  if (!data.empty() && !data[0].dims().empty() && !target.dims().empty() && data[0].dims()[0] != target.dims()[0])
    return error("the data have {} samples, the target {}", data[0].dims()[0], target.dims()[0]);
  if (!options_.step.loss.on_labels() || classes_ == 0) return {};
  const std::span<const int64_t> labels = target.data<int64_t>();
  const std::optional<int64_t> ignored = options_.step.loss.ignore_index;
  for (size_t i = 0; i < labels.size(); ++i)
    if ((labels[i] < 0 || labels[i] >= classes_) && labels[i] != ignored)
      return error(
          "label {} (element {} of the batch) is out of range: the network tells {} classes apart, so labels must be 0 to {}{}",
          labels[i], i, classes_, classes_ - 1, ignored ? fmt::format(", or {}", *ignored) : "");
  return {};
}

StepResult Trainer::result_of(const Tensor& loss, const Tensor& right, const Tensor& target) const {
  StepResult out;
  out.loss = loss.data<float>()[0];
  out.right = right.data<int64_t>()[0];
  if (!options_.step.loss.on_labels()) {
    out.counted = target.dims().empty() ? 1 : target.dims()[0];
  } else {
    const std::span<const int64_t> labels = target.data<int64_t>();
    out.counted = static_cast<int64_t>(labels.size());
    if (const auto ignored = options_.step.loss.ignore_index) out.counted -= std::count(labels.begin(), labels.end(), *ignored);
  }
  return out;
}

std::vector<Tensor> Trainer::inputs_with(const std::vector<Tensor>& data, const Tensor& target, double rate,
                                         const std::vector<MutableTensor>& state) const {
  std::vector<Tensor> out = data;
  out.push_back(target);
  out.push_back(Tensor::scalar(static_cast<float>(rate)));
  out.push_back(Tensor::scalar(at_.batches));
  const std::vector<Tensor> part = batch_part(state);
  out.insert(out.end(), part.begin(), part.end());
  return out;
}

std::vector<Tensor> Trainer::batch_part(const std::vector<MutableTensor>& state) const {
  const size_t count = accumulates() ? graph_.weights + graph_.statistics + graph_.sums : state.size();
  return {state.begin(), state.begin() + static_cast<int64_t>(count)};
}

std::vector<Tensor> Trainer::update_inputs(double rate, const std::vector<MutableTensor>& state) const {
  const auto weights_end = state.begin() + static_cast<int64_t>(graph_.weights);
  std::vector<Tensor> out{Tensor::scalar(static_cast<float>(rate)), Tensor::scalar(at_.steps),
                          Tensor::scalar(static_cast<float>(1 / static_cast<double>(at_.pending)))};
  out.insert(out.end(), state.begin(), weights_end);
  out.insert(out.end(), weights_end + static_cast<int64_t>(graph_.statistics), state.end());
  return out;
}

Status Trainer::keep_copies() {
  previous_.resize(kept_.size());
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (!previous_[i].defined()) {
      SV_ASSIGN(previous_[i], Tensor::allocate(kept_[i].type(), kept_[i].dims()));
    }
    std::memcpy(previous_[i].raw(), kept_[i].raw(), kept_[i].byte_size());
  }
  return {};
}

Result<StepResult> Trainer::step(const std::vector<Tensor>& data, const Tensor& target, double rate, bool profile) {
  SV_TRY(check_rate(rate));
  SV_TRY(check_target(data, target));
  if (options_.detect_anomaly) SV_TRY(keep_copies());
  SV_ASSIGN(const std::vector<Tensor> outputs, training_->run_into(inputs_with(data, target, rate, kept_), places_, profile));
  const StepResult result = result_of(outputs[0], outputs[1], target);
  if (options_.detect_anomaly) SV_TRY(look_for_anomaly(data, target, rate, result.loss));
  if (!std::isfinite(result.loss))
    return error(
        "the loss of step {} is {}; a lower learning rate or clipped gradients may help, and looking for anomalies names the "
        "operator",
        at_.steps, result.loss);
  ++at_.batches;
  if (!accumulates())
    ++at_.steps;
  else if (++at_.pending == options_.step.accumulate)
    SV_TRY(update(rate));
  return result;
}

Status Trainer::end_group(double rate) {
  SV_TRY(check_rate(rate));
  return at_.pending > 0 ? update(rate) : Status();
}

Status Trainer::update(double rate) {
  if (options_.detect_anomaly) SV_TRY(keep_copies());
  SV_ASSIGN(const std::vector<Tensor> outputs, updating_->run_into(update_inputs(rate, kept_), update_places_));
  if (options_.detect_anomaly && !std::all_of(kept_.begin(), kept_.end(), is_finite)) {
    SV_ASSIGN(const std::string culprit, first_not_finite(graph_.update, update_inputs(rate, previous_), options_.session));
    return error("step {}: {}", at_.steps, culprit);
  }
  const auto first = kept_.begin() + static_cast<int64_t>(graph_.weights + graph_.statistics);
  std::for_each(first, first + static_cast<int64_t>(graph_.sums),
                [](MutableTensor& sum) { std::memset(sum.raw(), 0, sum.byte_size()); });
  ++at_.steps;
  at_.pending = 0;
  return {};
}

Status Trainer::look_for_anomaly(const std::vector<Tensor>& data, const Tensor& target, double rate, double loss) const {
  const bool good = std::isfinite(loss) && std::all_of(kept_.begin(), kept_.end(), is_finite);
  if (good) return {};
  const std::vector<Tensor> inputs = inputs_with(data, target, rate, previous_);
  SV_ASSIGN(const std::string culprit, first_not_finite(graph_.graph, inputs, options_.session));
  return error("step {} (loss {}): {}", at_.steps, loss, culprit);
}

Result<StepResult> Trainer::evaluate(const std::vector<Tensor>& data, const Tensor& target) {
  SV_TRY(check_target(data, target));
  std::vector<Tensor> inputs = data;
  inputs.push_back(target);
  inputs.insert(inputs.end(), kept_.begin(), kept_.begin() + static_cast<int64_t>(graph_.weights + graph_.statistics));
  SV_ASSIGN(const std::vector<Tensor> outputs, evaluation_->run(inputs));
  return result_of(outputs[outputs.size() - kResults], outputs.back(), target);
}

Result<Graph> Trainer::network() const {
  Graph out = network_.clone();
  std::vector<std::string> names;
  for (size_t i = 0; i < graph_.weights + graph_.statistics; ++i) names.push_back(graph_.state[i].name);
  const size_t first = out.inputs().size();
  SV_ASSIGN(const std::vector<Tensor> old, constants_to_inputs(out, names));
  const std::vector<Value*> inputs(out.inputs().begin() + static_cast<int64_t>(first), out.inputs().end());
  for (size_t i = 0; i < inputs.size(); ++i) {
    SV_ASSIGN(Tensor copy, kept_[i].aligned_copy());
    out.make_constant(inputs[i], std::move(copy));
  }
  return out;
}

std::vector<CheckpointTensor> Trainer::state() const {
  std::vector<CheckpointTensor> out;
  for (size_t i = 0; i < kept_.size(); ++i) out.push_back({graph_.state[i].name, kept_[i]});
  return out;
}

int64_t Trainer::parameters() const {
  int64_t out = 0;
  for (size_t i = 0; i < graph_.weights; ++i) out += kept_[i].count();
  return out;
}

std::shared_ptr<const Plan> Trainer::largest_plan() const {
  std::shared_ptr<const Plan> out;
  for (const std::shared_ptr<const Plan>& plan : training_->plans())
    if (!out || plan->arena_bytes > out->arena_bytes) out = plan;
  return out;
}

Trainer::Memory Trainer::planned() const {
  Memory out;
  for (const Tensor& t : kept_) out.state += static_cast<int64_t>(t.byte_size());
  if (const std::shared_ptr<const Plan> plan = largest_plan()) out.values = plan->arena_bytes;
  return out;
}

Result<Trainer::Memory> Trainer::planned_with(Recompute recompute) const {
  Memory out = planned();
  const std::shared_ptr<const Plan> plan = largest_plan();
  if (!plan || plan->inputs.size() != training_->inputs().size()) return out;
  std::vector<Dims> dims;
  for (size_t i = 0; i < plan->inputs.size(); ++i) {
    // Where a host's node cuts the graph (a Loop), the largest plan is of a part, whose inputs are others.
    if (plan->inputs[i].name != training_->inputs()[i].name) return out;
    dims.push_back(plan->inputs[i].dims);
  }
  SV_ASSIGN(out.values, training_->planned_bytes(dims, recompute));
  return out;
}

Status Trainer::restore(const std::vector<CheckpointTensor>& state, const TrainerPosition& at) {
  if (state.size() != kept_.size()) return error("the state has {} tensors, this training {}", state.size(), kept_.size());
  std::map<std::string, const Tensor*> found;
  for (const CheckpointTensor& t : state) found[t.name] = &t.tensor;
  for (size_t i = 0; i < kept_.size(); ++i) {
    const std::string& name = graph_.state[i].name;
    const auto it = found.find(name);
    if (it == found.end()) return error("the state has no '{}'", name);
    if (it->second->type() != kept_[i].type() || it->second->dims() != kept_[i].dims())
      return error("'{}' is {}[{}] in the state, {}[{}] here", name, name_of(it->second->type()), to_string(it->second->dims()),
                   name_of(kept_[i].type()), to_string(kept_[i].dims()));
  }
  for (size_t i = 0; i < kept_.size(); ++i) std::memcpy(kept_[i].raw(), found[graph_.state[i].name]->raw(), kept_[i].byte_size());
  at_ = at;
  return {};
}

}  // namespace svengine
