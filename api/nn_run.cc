#include "api/nn_run.h"

#include "api/convert.h"
#include "engine/ops/registry.h"
#include "importers/onnx/export.h"
#include "importers/onnx/old_forms.h"
#include "importers/onnx/onnx_file.h"

namespace svengine::nn {
namespace {

/// The caller's batches, in the order of their numbers.
class NumberedBatches final : public svengine::BatchSource {
 public:
  explicit NumberedBatches(const nn::BatchSource& source) : source_(source) {}
  int64_t batches_per_epoch() const override { return source_.batches; }
  EpochPosition position() const override { return at_; }
  Status seek(EpochPosition to) override {
    if (to.epoch < 0 || to.batch < 0 || to.batch >= source_.batches)
      return error("there is no batch {} of epoch {}: an epoch has {}", to.batch, to.epoch, source_.batches);
    at_ = to;
    return {};
  }
  Result<TrainingBatch> next() override {
    Batch batch;
    std::string problem;
    if (!source_.get(at_.epoch, at_.batch, batch, problem))
      return error("there is no batch {} of epoch {}: {}", at_.batch, at_.epoch,
                   problem.empty() ? "its source gives no reason" : problem);
    if (++at_.batch == source_.batches) at_ = {at_.epoch + 1, 0};
    return borrow_batch(batch);
  }

 private:
  const nn::BatchSource& source_;
  EpochPosition at_;
};

Status check(const BatchSource& source, const char* what) {
  if (source.batches > 0 && source.get) return {};
  return error("{}: {}", what,
               source.get ? fmt::format("an epoch of {} batches", source.batches) : "no function gives the batches");
}

StepReport report_of(const TrainingSums& sums) { return {sums.mean_loss(), sums.right, sums.counted}; }

EpochReport report_of(const svengine::EpochReport& r, int64_t steps) {
  EpochReport out;
  out.epoch = r.epoch;
  out.steps = steps;
  out.training = report_of(r.training);
  if (r.held_out) out.held_out = report_of(*r.held_out);
  out.rate = r.rate;
  out.samples_per_second = r.samples_per_second;
  return out;
}

Result<TrainingRunOptions> run_options(const FitOptions& o) {
  TrainingRunOptions out;
  out.epochs = o.epochs;
  out.rate = o.rate;
  SV_ASSIGN(out.schedule, Schedule::parse(o.schedule));
  out.checkpoint = o.checkpoint;
  out.keep = o.keep;
  out.save_every = o.save_every;
  out.resume = o.resume;
  if (out.checkpoint.empty() && (out.resume || out.save_every > 0))
    return error("resuming and saving need a folder for checkpoints, and none is named");
  out.log_dir = o.log_dir;
  out.log_every = o.log_every;
  out.max_seconds = o.max_seconds;
  if (o.stop) out.stop = [&o] { return std::string(o.stop() ? "the caller" : ""); };
  return out;
}

}  // namespace

Result<TrainingBatch> borrow_batch(const Batch& batch) {
  TrainingBatch out;
  for (const TensorView& view : batch.inputs) {
    SV_ASSIGN(Tensor tensor, borrow(view, out.data.size()));
    out.data.push_back(std::move(tensor));
  }
  Result<Tensor> target = borrow(batch.target, out.data.size());
  if (!target.ok()) return std::move(target).error().in("the target");
  out.target = std::move(target).value();
  out.rows = out.target.dims().empty() ? 1 : out.target.dims()[0];
  return out;
}

Result<FitReport> run_training(svengine::Trainer& trainer, const BatchSource& training, const FitOptions& options,
                               std::vector<std::pair<std::string, std::string>> settings) {
  SV_TRY(check(training, "training"));
  const bool evaluates = options.held_out.batches != 0 || options.held_out.get;
  if (evaluates) SV_TRY(check(options.held_out, "held_out"));
  SV_ASSIGN(TrainingRunOptions run, run_options(options));
  run.settings = std::move(settings);
  run.settings.emplace_back("data", fmt::format("{}, {} batches", training.name, training.batches));
  run.settings.emplace_back("rate", fmt::format("{}", run.rate));
  run.settings.emplace_back("schedule", run.schedule.text());
  NumberedBatches batches(training), held_out(options.held_out);
  FitReport report;
  TrainingEvents events;
  events.note = options.note;
  events.epoch = [&](const svengine::EpochReport& epoch) {
    report.epochs.push_back(report_of(epoch, trainer.steps()));
    if (options.epoch) options.epoch(report.epochs.back());
  };
  if (options.progress) {
    events.progress = [&](const TrainingProgress& p) {
      options.progress({p.epoch, p.batch, p.batches, p.loss, p.samples_per_second});
    };
  }
  SV_ASSIGN(TrainingRun training_run,
            TrainingRun::create(trainer, batches, evaluates ? &held_out : nullptr, std::move(run), std::move(events)));
  SV_ASSIGN(const TrainingEnd end, training_run.run());
  report.finished = end.why == TrainingEnd::Why::finished;
  report.out_of_time = end.why == TrainingEnd::Why::out_of_time;
  report.steps = trainer.steps();
  return report;
}

Status save_graph(Graph graph, const std::string& path) {
  SV_TRY(onnx::replace_old_forms(graph, all_ops()));
  ExportOptions options{.producer_version = version()};
  for (int opset = options.opset; opset <= kNewestOpset; ++opset) {
    ExportOptions tried = options;
    tried.opset = opset;
    if (export_model(graph, tried).ok()) return export_onnx(graph, tried, path);
  }
  return export_onnx(graph, options, path);  // says what is wrong
}

}  // namespace svengine::nn
