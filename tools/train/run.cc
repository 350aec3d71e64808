#include "tools/train/run.h"

#include <chrono>
#include <cmath>
#include <filesystem>

#include "importers/io/names.h"
#include "runtime/log/histogram.h"

namespace svengine::tool {
namespace {

const std::vector<std::string> kColumns = {"epoch", "train/loss",   "train/accuracy", "held-out/loss", "held-out/accuracy",
                                           "rate",  "samples_per_s"};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Facts of a checkpoint beside the settings.
constexpr const char kStep[] = "step", kBatches[] = "batches", kPending[] = "pending batches", kEpoch[] = "epoch", kBatch[] = "batch", kLoss[] = "epoch loss", kRight[] = "epoch right",
                     kCounted[] = "epoch counted";

/// What belongs to the network, so that the identity does not depend on the optimiser's states: these are a setting.
std::string identity_of(const Trainer& trainer) { return model_identity("training", trainer.state()); }

}  // namespace

void Sums::add(const StepResult& result) {
  loss += result.loss * static_cast<double>(result.counted);
  right += result.right;
  counted += result.counted;
}

Result<TrainingRun> TrainingRun::create(Trainer& trainer, TrainingData& data, RunOptions options, Events events) {
  TrainingRun run(trainer, data, std::move(options), std::move(events));
  if (!run.options_.max_time.empty()) {
    Result<double> limit = parse_duration(run.options_.max_time);
    if (!limit.ok()) return std::move(limit).error().in("--max-time");
    run.deadline_ = Deadline(now(), *limit);
  }
  SV_TRY(run.open_checkpoints());
  SV_TRY(run.open_logs());
  return run;
}

Status TrainingRun::open_checkpoints() {
  if (options_.checkpoint.empty()) return {};
  SV_ASSIGN(writer_, CheckpointWriter::open(options_.checkpoint, {.keep = options_.keep}));
  SV_ASSIGN(const std::vector<int64_t> there, checkpoint_generations(options_.checkpoint));
  if (!options_.resume && !there.empty())
    return error("{} holds checkpoints already: --resume continues from them, another folder begins anew",
                 printable(options_.checkpoint));
  return options_.resume ? resume() : Status();
}

Status TrainingRun::resume() {
  SV_ASSIGN(std::optional<LoadedCheckpoint> loaded, load_newest_checkpoint(options_.checkpoint, identity_of(*trainer_)));
  if (!loaded) return {};
  for (const std::string& note : loaded->notes) events_.note(note);
  const CheckpointMetadata& metadata = loaded->content.metadata;
  for (const auto& [name, value] : options_.settings) {
    SV_ASSIGN(const std::string then, metadata.text(name));
    if (then != value)
      return error("{}: the run to resume has {} {}, this one {}; resuming continues bitwise, so they must agree",
                   printable(options_.checkpoint), name, then, value);
  }
  TrainerPosition at;
  SV_ASSIGN(at.steps, metadata.integer(kStep));
  SV_ASSIGN(at.batches, metadata.integer(kBatches));
  SV_ASSIGN(at.pending, metadata.integer(kPending));
  SV_ASSIGN(const int64_t epoch, metadata.integer(kEpoch));
  SV_ASSIGN(const int64_t batch, metadata.integer(kBatch));
  SV_ASSIGN(sums_.loss, metadata.number(kLoss));
  SV_ASSIGN(sums_.right, metadata.integer(kRight));
  SV_ASSIGN(sums_.counted, metadata.integer(kCounted));
  SV_TRY(trainer_->restore(loaded->content.tensors, at));
  SV_TRY(data_->training().seek({epoch, batch}));
  resumed_at_ = at.steps, saved_at_ = at.batches;
  events_.note(fmt::format("resumed from checkpoint {} after {} steps (epoch {}, batch {})", loaded->generation, at.steps,
                           epoch + 1, batch));
  return {};
}

Status TrainingRun::save() {
  if (!writer_ || saved_at_ == trainer_->position().batches) return {};
  const double begin = now();
  Checkpoint out;
  out.model = identity_of(*trainer_);
  out.tensors = trainer_->state();
  for (const auto& [name, value] : options_.settings) out.metadata.set(name, value);
  const LoaderPosition at = data_->training().position();
  out.metadata.set(kStep, trainer_->steps());
  out.metadata.set(kBatches, trainer_->position().batches);
  out.metadata.set(kPending, trainer_->position().pending);
  out.metadata.set(kEpoch, at.epoch);
  out.metadata.set(kBatch, at.batch);
  out.metadata.set(kLoss, sums_.loss);
  out.metadata.set(kRight, sums_.right);
  out.metadata.set(kCounted, sums_.counted);
  SV_ASSIGN(const SavedCheckpoint saved, writer_->save(out));
  for (const std::string& note : saved.notes) events_.note(note);
  saved_at_ = trainer_->position().batches;
  deadline_.save_took(now() - begin);
  return {};
}

Status TrainingRun::open_logs() {
  if (options_.log_dir.empty()) return {};
  SV_ASSIGN(tensorboard_, EventWriter::open(options_.log_dir, trainer_->steps()));
  SV_ASSIGN(csv_, CsvLog::open((std::filesystem::path(options_.log_dir) / "training.csv").string(), kColumns, trainer_->steps()));
  SV_ASSIGN(steps_csv_,
            CsvLog::open((std::filesystem::path(options_.log_dir) / "steps.csv").string(), {"loss", "rate"}, trainer_->steps()));
  return {};
}

Status TrainingRun::log_step(double loss, double rate) {
  if (!tensorboard_ || trainer_->steps() % options_.log_every != 0) return {};
  SV_TRY(tensorboard_->scalar("step/loss", trainer_->steps(), loss));
  SV_TRY(tensorboard_->scalar("step/rate", trainer_->steps(), rate));
  const std::optional<double> row[] = {loss, rate};
  return steps_csv_->row(trainer_->steps(), row);
}

Status TrainingRun::log_epoch(const EpochReport& r) {
  if (!tensorboard_) return {};
  const int64_t step = trainer_->steps();
  const auto held_out = [&](double (Sums::*value)() const) {
    return r.held_out ? std::optional(((*r.held_out).*value)()) : std::nullopt;
  };
  const std::vector<std::optional<double>> row = {static_cast<double>(r.epoch), r.training.mean_loss(),    r.training.accuracy(),
                                                  held_out(&Sums::mean_loss),   held_out(&Sums::accuracy), r.rate,
                                                  r.samples_per_second};
  for (size_t i = 0; i < row.size(); ++i)
    if (row[i]) SV_TRY(tensorboard_->scalar(kColumns[i], step, *row[i]));
  const std::vector<CheckpointTensor> state = trainer_->state();
  for (size_t i = 0; i < trainer_->weight_count(); ++i)
    SV_TRY(tensorboard_->histogram("weights/" + state[i].name, step, histogram_of(state[i].tensor.data<float>())));
  return csv_->row(step, row);
}

Status TrainingRun::step() {
  const double begin = now();
  Loader& loader = data_->training();
  const LoaderPosition at = loader.position();
  SV_ASSIGN(const Batch batch, loader.next());
  for (const std::string& problem : batch.problems) events_.note(problem + " (another sample took its place)");
  const Feed feed = data_->feed(batch);
  const int64_t step = trainer_->steps(), group = options_.accumulate;
  const double rate = options_.schedule.rate(options_.rate, step, (loader.batches_per_epoch() + group - 1) / group);
  Result<StepResult> result = trainer_->step(feed.data, feed.target, rate);
  if (!result.ok()) return std::move(result).error().in(fmt::format("epoch {}, batch {}", at.epoch + 1, at.batch));
  if (batch.last_of_epoch) SV_TRY(trainer_->end_group(rate));
  sums_.add(*result);
  rate_ = rate;
  seen_ += feed.rows;
  const double took = now() - begin;
  busy_ += took;
  deadline_.step_took(took);
  if (trainer_->steps() > step) SV_TRY(log_step(result->loss, rate));
  events_.progress(
      {at.epoch + 1, at.batch + 1, loader.batches_per_epoch(), sums_.mean_loss(), static_cast<double>(seen_) / busy_});
  return batch.last_of_epoch ? end_epoch() : Status();
}

Result<Sums> TrainingRun::evaluate() {
  Sums out;
  Loader& loader = *data_->held_out();
  SV_TRY(loader.seek({0, 0}));
  for (int64_t i = 0; i < loader.batches_per_epoch(); ++i) {
    SV_ASSIGN(const Batch batch, loader.next());
    for (const std::string& problem : batch.problems) events_.note(problem + " (left out)");
    if (batch.rows() == 0) continue;
    const Feed feed = data_->feed(batch);
    Result<StepResult> result = trainer_->evaluate(feed.data, feed.target);
    if (!result.ok()) return std::move(result).error().in("held-out data");
    out.add(*result);
  }
  return out;
}

Status TrainingRun::end_epoch() {
  EpochReport report;
  report.epoch = data_->training().position().epoch;
  report.training = sums_;
  report.rate = rate_;
  report.samples_per_second = busy_ > 0 ? static_cast<double>(seen_) / busy_ : 0;
  if (data_->held_out()) {
    SV_ASSIGN(report.held_out, evaluate());
  }
  sums_ = {};
  seen_ = 0, busy_ = 0;
  SV_TRY(log_epoch(report));
  SV_TRY(save());
  events_.epoch(report);
  return {};
}

Result<std::optional<std::string>> TrainingRun::run() {
  const StopSignals signals;
  while (data_->training().position().epoch < options_.epochs) {
    const char* signal = signals.received();
    if (signal || deadline_.due(now())) {
      SV_TRY(save());
      return std::optional<std::string>(signal ? signal : "--max-time");
    }
    SV_TRY(step());
    if (options_.save_every > 0 && trainer_->position().batches % options_.save_every == 0) SV_TRY(save());
  }
  SV_TRY(save());
  return std::optional<std::string>();
}

}  // namespace svengine::tool
