// The run behind svengine.train(): runtime/train's, as the shell's command takes it. Arguments are checked and named in svengine/training.py.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fnmatch.h>

#include "python/arguments.h"
#include "python/bindings.h"
#include "python/model_source.h"
#include "python/options.h"
#include "python/training_data.h"
#include "runtime/train/trainer.h"
#include "validate/convert/trained.h"
#include "validate/convert/weights_stay.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

Result<LossChoice> loss_of(const Arguments& a) {
  LossChoice out;
  const auto name = a.get<std::string>("loss");
  const std::optional<Loss> kind = loss_named(name);
  if (!kind) return error("loss='{}': there are cross_entropy, nll, mse, l1, smooth_l1 and bce_with_logits", name);
  out.kind = *kind;
  out.output = a.get<std::string>("loss_of");
  out.label_smoothing = a.get<double>("label_smoothing");
  out.ignore_index = a.get<std::optional<int64_t>>("ignore_index");
  out.class_axis = a.get<std::optional<int64_t>>("class_axis");
  out.class_weights = a.get<std::vector<float>>("class_weights");
  if (!out.on_labels() && (out.ignore_index || out.class_axis || !out.class_weights.empty() || out.label_smoothing != 0))
    return error("loss='{}' has no labels, so no ignore_index, class_axis, class_weights or label_smoothing", name);
  return out;
}

Result<TrainerOptions> trainer_options(const Arguments& a) {
  TrainerOptions out;
  SV_ASSIGN(out.step.loss, loss_of(a));
  Result<OptimizerOptions> optimizer = OptimizerOptions::parse(a.get<std::string>("optimizer"));
  if (!optimizer.ok()) return std::move(optimizer).error().in("optimizer");
  out.step.optimizer = *optimizer;
  out.step.accumulate = a.get<int64_t>("accumulate");
  out.step.clip_norm = a.get<double>("clip_norm");
  out.step.seed = a.get<uint64_t>("seed");
  out.step.frozen = [patterns = a.get<std::vector<std::string>>("freeze")](const std::string& name) {
    for (const std::string& p : patterns)
      if (fnmatch(p.c_str(), name.c_str(), 0) == 0) return true;
    return false;
  };
  out.initialise = a.get<bool>("initialise");
  out.detect_anomaly = a.get<bool>("detect_anomaly");
  SessionArguments session;
  session.threads = a.get<std::optional<int>>("threads");
  session.kernels = a.get<std::string>("kernels");
  session.topology = a.get<std::string>("topology");
  SV_ASSIGN(out.session, session.resolve());
  return out;
}

Result<TrainingRunOptions> run_options(const Arguments& a, const TrainerOptions& trainer, const DataBatches& data) {
  TrainingRunOptions out;
  out.epochs = a.get<int64_t>("epochs");
  out.rate = a.get<double>("lr");
  SV_ASSIGN(out.schedule, Schedule::parse(a.get<std::string>("schedule")));
  out.checkpoint = a.get<std::string>("checkpoint");
  out.keep = a.get<int>("keep");
  out.save_every = a.get<int64_t>("save_every");
  out.resume = a.get<bool>("resume");
  if (out.checkpoint.empty() && (out.resume || out.save_every > 0)) return error("resume and save_every need a folder: checkpoint");
  out.log_dir = a.get<std::string>("log_dir");
  out.max_seconds = a.get<double>("max_seconds");
  std::string frozen;
  for (const std::string& p : a.get<std::vector<std::string>>("freeze")) frozen += p + " ";
  out.settings = {{"loss", fmt::format("{} of '{}', smoothing {}, ignoring {}, class axis {}", a.get<std::string>("loss"), trainer.step.loss.output,
                                       trainer.step.loss.label_smoothing, nb::repr(a["ignore_index"]).c_str(), nb::repr(a["class_axis"]).c_str())},
                  {"optimizer", trainer.step.optimizer.text()},
                  {"accumulate", std::to_string(trainer.step.accumulate)},
                  {"class_weights", fmt::format("{}", fmt::join(trainer.step.loss.class_weights, ","))},
                  {"clip_norm", fmt::format("{}", trainer.step.clip_norm)},
                  {"seed", std::to_string(trainer.step.seed)},
                  {"freeze", frozen},
                  {"data", data.describe()},
                  {"lr", fmt::format("{}", out.rate)},
                  {"schedule", out.schedule.text()}};
  return out;
}

void put_sums(nb::dict& out, const char* prefix, const TrainingSums& sums, bool on_labels) {
  out[fmt::format("{}loss", prefix).c_str()] = sums.mean_loss();
  if (on_labels) out[fmt::format("{}accuracy", prefix).c_str()] = sums.accuracy();
}

nb::dict epoch_to_python(const EpochReport& r, bool on_labels) {
  nb::dict out;
  out["epoch"] = r.epoch;
  put_sums(out, "", r.training, on_labels);
  if (r.held_out) put_sums(out, "held_out_", *r.held_out, on_labels);
  out["rate"] = r.rate;
  out["samples_per_second"] = r.samples_per_second;
  return out;
}

/// What the run asks of Python and tells it. Exceptions of Python end the run, and are raised when it has saved.
class Conversation {
 public:
  Conversation(nb::object on_epoch, bool on_labels) : on_epoch_(std::move(on_epoch)), on_labels_(on_labels) {}

  std::string stop() {
    const nb::gil_scoped_acquire lock;
    if (!problem_ && PyErr_CheckSignals() != 0) problem_ = std::make_unique<nb::python_error>();
    return problem_ ? "an exception" : wants_end_ ? "on_epoch" : "";
  }
  void epoch(const EpochReport& report) {
    const nb::gil_scoped_acquire lock;
    const nb::dict row = epoch_to_python(report, on_labels_);
    epochs_.append(row);
    if (on_epoch_.is_none() || problem_) return;
    try {
      wants_end_ = wants_end_ || nb::cast<bool>(nb::bool_(on_epoch_(row)));
    } catch (nb::python_error& e) {
      problem_ = std::make_unique<nb::python_error>(std::move(e));
    }
  }
  void note(const std::string& text) {
    const nb::gil_scoped_acquire lock;
    notes_.append(nb::str(text.c_str(), text.size()));
  }
  void raise_problem() {
    if (problem_) throw nb::python_error(std::move(*problem_));
  }
  const nb::list& epochs() const { return epochs_; }
  const nb::list& notes() const { return notes_; }

 private:
  nb::object on_epoch_;
  bool on_labels_, wants_end_ = false;
  std::unique_ptr<nb::python_error> problem_;
  nb::list epochs_, notes_;
};

Status write_network(const Trainer& trainer, const Model& model, const std::string& path) {
  SV_ASSIGN(validate::TrainedNetwork network, validate::trained_network(trainer, model));
  network.options.producer_version = SVENGINE_VERSION;
  return export_onnx(network.graph, network.options, path);
}

struct Sources {
  std::unique_ptr<DataBatches> training, held_out;
};

Sources open_sources(const Arguments& a, nb::handle data, const Trainer& trainer) {
  BatchOptions batches;
  batches.batch = a.get<int64_t>("batch");
  batches.shuffle = a.get<bool>("shuffle");
  batches.drop_last = a.get<bool>("drop_last");
  batches.seed = a.get<uint64_t>("seed");
  batches.mean = a.get<std::vector<float>>("mean");
  batches.std = a.get<std::vector<float>>("std");
  const auto fields = a.get<FieldNames>("fields");
  Sources out;
  out.training = value_of(DataBatches::create(open_data(data, Split::train, "data"), batches, fields, trainer));
  if (a["held_out"].is_none()) return out;
  batches.shuffle = batches.drop_last = false;
  out.held_out = value_of(DataBatches::create(open_data(a["held_out"], Split::test, "held_out"), batches, fields, trainer));
  return out;
}

struct Network {
  Model model;  // without its graph
  std::unique_ptr<Trainer> trainer;
};

Network open_network(nb::handle model, const TrainerOptions& options) {
  const ModelSource source(model);
  const nb::gil_scoped_release other_threads_run;
  Network out;
  out.model = value_of(source.read({}));
  Result<std::unique_ptr<Trainer>> made = Trainer::create(std::move(out.model.graph), options);
  if (!made.ok()) throw EngineError(std::move(made).error().in(source.name()));
  out.trainer = std::move(made).value();
  return out;
}

/// Until it ends, and what remains is written. Without the interpreter's lock, also where the sources' threads end.
TrainingEnd run_and_write(const Network& network, Sources sources, TrainingRunOptions options, TrainingEvents events, const std::string& output) {
  const nb::gil_scoped_release other_threads_run;
  const Sources own = std::move(sources);
  if (!output.empty()) check(validate::check_trained_network(*network.trainer, network.model));
  TrainingRun run = value_of(TrainingRun::create(*network.trainer, *own.training, own.held_out.get(), std::move(options), std::move(events)));
  TrainingEnd end = value_of(run.run());
  if (!output.empty()) check(write_network(*network.trainer, network.model, output));
  return end;
}

nb::dict train(nb::handle model, nb::handle data, const std::string& output, const nb::dict& values) {
  const Arguments arguments(values);
  const TrainerOptions options = value_of(trainer_options(arguments));
  if (const ModelSource source(model); source.is_path() && !output.empty()) check(validate::check_weights_stay(source.name(), {output}));
  const Network network = open_network(model, options);
  const Trainer& trainer = *network.trainer;
  Sources sources = open_sources(arguments, data, trainer);
  TrainingRunOptions run = value_of(run_options(arguments, options, *sources.training));
  Conversation conversation(arguments["on_epoch"], options.step.loss.on_labels());
  run.stop = [&] { return conversation.stop(); };
  TrainingEvents events;
  events.epoch = [&](const EpochReport& r) { conversation.epoch(r); };
  events.note = [&](const std::string& text) { conversation.note(text); };
  const TrainingEnd end = run_and_write(network, std::move(sources), std::move(run), std::move(events), output);
  conversation.raise_problem();
  nb::dict out;
  out["epochs"] = conversation.epochs();
  out["notes"] = conversation.notes();
  out["steps"] = trainer.steps();
  out["parameters"] = trainer.parameters();
  out["finished"] = end.why == TrainingEnd::Why::finished;
  out["stopped_by"] = end.why == TrainingEnd::Why::out_of_time ? std::string("max_seconds") : end.stopped_by;
  return out;
}

}  // namespace

void bind_train(nb::module_& module) {
  module.def("train", train, nb::arg("model"), nb::arg("data"), nb::arg("output"), nb::arg("options"));
}

}  // namespace svengine::python
