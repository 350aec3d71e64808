// nn::Trainer: runtime/train's.
#include <algorithm>

#include "api/convert.h"
#include "api/guard.h"
#include "api/nn_run.h"
#include "api/network_impl.h"
#include "api/nn_state.h"
#include "importers/onnx/export.h"
#include "importers/onnx/import.h"
#include "runtime/train/trainer.h"

namespace svengine::nn {
namespace {

const std::vector<TensorInfo> kNothing;
const TensorInfo kNoTarget;

Result<svengine::TrainerOptions> options_of(const TrainerOptions& o, std::set<std::string> constants) {
  svengine::TrainerOptions out;
  const std::optional<Loss> loss = loss_named(o.loss);
  if (!loss) return error("there is no loss '{}'; there are cross_entropy, nll, mse, l1, smooth_l1 and bce_with_logits", o.loss);
  out.step.loss.kind = *loss;
  if (!out.step.loss.on_labels() && (o.ignore_index || !o.class_weights.empty() || o.label_smoothing != 0))
    return error("loss {} has no labels, so no ignore_index, class_weights or label_smoothing", o.loss);
  out.step.loss.output = o.loss_of;
  out.step.loss.label_smoothing = o.label_smoothing;
  out.step.loss.ignore_index = o.ignore_index;
  out.step.loss.class_weights = o.class_weights;
  SV_ASSIGN(out.step.optimizer, OptimizerOptions::parse(o.optimizer));
  out.step.clip_norm = o.clip_norm;
  out.step.accumulate = o.accumulate;
  out.step.seed = o.seed;
  constants.insert(o.freeze.begin(), o.freeze.end());
  out.step.frozen = [constants = std::move(constants)](const std::string& name) { return constants.count(name) > 0; };
  out.initialise = o.initialise;
  out.detect_anomaly = o.detect_anomaly;
  SV_ASSIGN(out.session, session_options(o.runtime));
  return out;
}

bool fits_port(const TensorView& view, const TensorInfo& port) {
  if (view.type != port.type) return false;
  if (!port.has_rank) return true;
  return std::equal(view.shape.begin(), view.shape.end(), port.shape.begin(), port.shape.end(),
                    [](int64_t given, int64_t wanted) { return wanted < 0 || given == wanted; });
}

std::vector<std::pair<std::string, std::string>> settings_of(const TrainerOptions& o, const svengine::TrainerOptions& inner) {
  return {{"loss", fmt::format("{} of '{}', smoothing {}, ignoring {}", o.loss, o.loss_of, o.label_smoothing,
                               o.ignore_index ? std::to_string(*o.ignore_index) : "nothing")},
          {"optimizer", inner.step.optimizer.text()},
          {"accumulate", std::to_string(o.accumulate)},
          {"class_weights", fmt::format("{}", fmt::join(o.class_weights, ","))},
          {"clip_norm", fmt::format("{}", o.clip_norm)},
          {"seed", std::to_string(o.seed)},
          {"freeze", fmt::format("{}", fmt::join(o.freeze, ","))}};
}

}  // namespace

struct Trainer::Impl {
  std::unique_ptr<svengine::Trainer> trainer;
  std::vector<std::pair<std::string, std::string>> settings;  // of which a resumed run must have the same
  std::vector<TensorInfo> inputs;
  TensorInfo target;
  LastError error;
  bool is_callers_fault = false;  // that error: options or a batch that cannot be

  Status open(Graph graph, const TrainerOptions& options, std::set<std::string> constants) {
    is_callers_fault = true;
    SV_ASSIGN(svengine::TrainerOptions inner, options_of(options, std::move(constants)));
    is_callers_fault = false;
    settings = settings_of(options, inner);
    SV_ASSIGN(trainer, svengine::Trainer::create(std::move(graph), std::move(inner)));
    for (const Session::Port& p : trainer->data()) inputs.push_back(describe_port(p));
    target = describe_port(trainer->target());
    return {};
  }

  /// Whether the batch has the types and shapes that are announced, all with as many samples.
  bool fits(const Batch& batch) const {
    if (batch.inputs.size() != inputs.size()) return false;
    const int64_t samples = batch.target.shape.empty() ? -1 : batch.target.shape.front();
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!fits_port(batch.inputs[i], inputs[i]) || batch.inputs[i].shape.empty() || batch.inputs[i].shape.front() != samples) return false;
    return fits_port(batch.target, target);
  }

  /// Calls f with the batch, and keeps what went wrong.
  template <class F>
  bool with(const Batch& batch, const F& f) {
    is_callers_fault = !fits(batch);
    const Result<TrainingBatch> tensors = borrow_batch(batch);
    return keep(tensors.ok() ? f(tensors->data, tensors->target) : Status(tensors.error()));
  }
  /// In a handler.
  void give_up() noexcept {
    trainer.reset();
    error.keep_caught();
  }
  bool keep(const Status& status) {
    if (!status.ok()) error.keep(status.error());
    return status.ok();
  }
};

namespace {

/// f() with a trainer that is there; else, and when something is thrown, false.
template <class Impl, class F>
bool guarded(const std::unique_ptr<Impl>& impl, const F& f) noexcept {
  if (!impl) return false;
  return svengine::guarded(impl->error, false,
                           [&] { return impl->trainer ? f() : impl->keep(Error("there is no network to train")); });
}

StepReport report_of(const StepResult& result) { return {result.loss, result.right, result.counted}; }

}  // namespace

Trainer::Trainer(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&& other) noexcept = default;
Trainer& Trainer::operator=(Trainer&& other) noexcept = default;

Trainer Trainer::create(const Net& net, const TrainerOptions& options) noexcept {
  Trainer out(nullptr);
  try {
    out.impl_ = std::make_unique<Impl>();
    Result<Graph> graph = net.state_ ? net.state_->finished() : Result<Graph>(Error(kOutOfMemory));
    if (graph.ok())
      out.impl_->keep(out.impl_->open(std::move(graph).value(), options, net.state_->constants));
    else
      out.impl_->keep(std::move(graph).error());
  } catch (...) {
    if (out.impl_) out.impl_->give_up();
  }
  return out;
}

Trainer Trainer::load(const std::string& path, const TrainerOptions& options) noexcept {
  Trainer out(nullptr);
  try {
    out.impl_ = std::make_unique<Impl>();
    Result<Model> model = import_onnx(path);
    if (!model.ok()) {
      out.impl_->keep(std::move(model).error());
    } else if (Status status = out.impl_->open(std::move(model->graph), options, {}); !status.ok()) {
      out.impl_->keep(std::move(status).error().in(path));
    }
  } catch (...) {
    if (out.impl_) out.impl_->give_up();
  }
  return out;
}

Trainer::operator bool() const noexcept { return impl_ && impl_->trainer; }
const std::string& Trainer::error() const noexcept { return impl_ ? impl_->error.message : kOutOfMemory; }
bool Trainer::unimplemented() const noexcept { return impl_ && impl_->error.unimplemented; }
const std::vector<TensorInfo>& Trainer::inputs() const noexcept { return impl_ ? impl_->inputs : kNothing; }
const TensorInfo& Trainer::target() const noexcept { return impl_ ? impl_->target : kNoTarget; }

bool Trainer::step(const Batch& batch, double rate, StepReport* report) noexcept {
  return guarded(impl_, [&] {
    return impl_->with(batch, [&](const std::vector<Tensor>& data, const Tensor& target) -> Status {
      SV_ASSIGN(const StepResult result, impl_->trainer->step(data, target, rate));
      if (report) *report = report_of(result);
      return {};
    });
  });
}

bool Trainer::end_group(double rate) noexcept {
  return guarded(impl_, [&] { return impl_->keep(impl_->trainer->end_group(rate)); });
}

bool Trainer::fit(const BatchSource& training, const FitOptions& options, FitReport* report) noexcept {
  return guarded(impl_, [&] {
    Result<FitReport> done = run_training(*impl_->trainer, training, options, impl_->settings);
    if (!done.ok()) return impl_->keep(std::move(done).error());
    if (report) *report = std::move(done).value();
    return true;
  });
}

bool Trainer::evaluate(const Batch& batch, StepReport& report) noexcept {
  return guarded(impl_, [&] {
    return impl_->with(batch, [&](const std::vector<Tensor>& data, const Tensor& target) -> Status {
      SV_ASSIGN(const StepResult result, impl_->trainer->evaluate(data, target));
      report = report_of(result);
      return {};
    });
  });
}

TensorView Trainer::weight(const std::string& name) const noexcept {
  TensorView out;
  (void)guarded(impl_, [&] {
    for (const CheckpointTensor& t : impl_->trainer->state())
      if (t.name == name) out = {to_element_type(t.tensor.type()), t.tensor.dims(), t.tensor.raw()};
    return true;
  });
  return out;
}

bool Trainer::save(const std::string& path) noexcept {
  return guarded(impl_, [&] {
    Result<Graph> graph = impl_->trainer->network();
    return impl_->keep(graph.ok() ? save_graph(std::move(*graph), path) : Status(graph.error()));
  });
}

bool TrainerAccess::is_callers_fault(const Trainer& trainer) { return trainer.impl_ && trainer.impl_->is_callers_fault; }

Result<Graph> TrainerAccess::trained(const Trainer& trainer) {
  if (!trainer) return svengine::error("there is no network to train");
  SV_ASSIGN(Graph graph, trainer.impl_->trainer->network());
  // Its constants are the trainer's own memory, which the next step changes.
  std::vector<Value*> constants;
  graph.for_each_value([&](Value& v) {
    if (v.is_constant()) constants.push_back(&v);
  });
  for (Value* v : constants) {
    SV_ASSIGN(MutableTensor copy, v->constant().aligned_copy());
    graph.make_constant(v, std::move(copy));
  }
  return graph;
}

Network Trainer::network(const NetworkOptions& options) noexcept {
  Network out = NetworkAccess::failed(kOutOfMemory);
  (void)guarded(impl_, [&] {
    Result<Graph> graph = TrainerAccess::trained(*this);
    if (!graph.ok()) return impl_->keep(Status(graph.error()));
    out = NetworkAccess::of(std::move(graph).value(), options);
    return true;
  });
  return out;
}

}  // namespace svengine::nn
