#include "runtime/train/run.h"

#include <chrono>
#include <cmath>
#include <filesystem>

#include "engine/base/round.h"
#include "runtime/log/histogram.h"

namespace svengine {
namespace {

const std::vector<std::string> kColumns = {"epoch", "train/loss",   "train/accuracy", "held-out/loss", "held-out/accuracy",
                                           "rate",  "samples_per_s"};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Facts of a checkpoint beside the settings.
constexpr const char kStep[] = "step", kBatches[] = "batches", kPending[] = "pending batches", kEpoch[] = "epoch",
                     kBatch[] = "batch", kLoss[] = "epoch loss", kRight[] = "epoch right", kCounted[] = "epoch counted";

/// What belongs to the network, so that the identity does not depend on the optimiser's states: these are a setting.
std::string identity_of(const Trainer& trainer) { return model_identity("training", trainer.state()); }

}  // namespace

void TrainingSums::add(const StepResult& result) {
  loss += result.loss * static_cast<double>(result.counted);
  right += result.right;
  counted += result.counted;
}

void TrainingRun::note(const std::string& text) const {
  if (events_.note) events_.note(text);
}

Result<TrainingRun> TrainingRun::create(Trainer& trainer, BatchSource& training, BatchSource* held_out,
                                        TrainingRunOptions options, TrainingEvents events) {
  if (options.epochs < 0) return error("{} epochs", options.epochs);
  if (options.log_every < 1 || options.save_every < 0)
    return error("a log every {} steps, which is 1 or more, and a checkpoint every {} batches, which is 0 or more",
                 options.log_every, options.save_every);
  if (!(options.max_seconds >= 0)) return error("a limit of {} seconds", options.max_seconds);
  if (training.batches_per_epoch() < 1) return error("an epoch of {} batches", training.batches_per_epoch());
  TrainingRun run(trainer, training, held_out, std::move(options), std::move(events));
  if (run.options_.max_seconds > 0) run.deadline_ = Deadline(now(), run.options_.max_seconds);
  SV_TRY(run.open_checkpoints());
  SV_TRY(run.open_logs());
  return run;
}

Status TrainingRun::open_checkpoints() {
  if (options_.checkpoint.empty()) return {};
  SV_ASSIGN(writer_, CheckpointWriter::open(options_.checkpoint, {.keep = options_.keep}));
  SV_ASSIGN(const std::vector<int64_t> there, checkpoint_generations(options_.checkpoint));
  if (!options_.resume && !there.empty())
    return error("{} holds checkpoints already: resuming continues from them, another folder begins anew", options_.checkpoint);
  return options_.resume ? resume() : Status();
}

Status TrainingRun::resume() {
  SV_ASSIGN(std::optional<LoadedCheckpoint> loaded, load_newest_checkpoint(options_.checkpoint, identity_of(*trainer_)));
  if (!loaded) return {};
  for (const std::string& text : loaded->notes) note(text);
  const CheckpointMetadata& metadata = loaded->content.metadata;
  for (const auto& [name, value] : options_.settings) {
    SV_ASSIGN(const std::string then, metadata.text(name));
    if (then != value)
      return error("{}: the run to resume has {} {}, this one {}; resuming continues bitwise, so they must agree",
                   options_.checkpoint, name, then, value);
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
  SV_TRY(training_->seek({epoch, batch}));
  saved_at_ = at.batches;
  note(fmt::format("resumed from checkpoint {} after {} steps (epoch {}, batch {})", loaded->generation, at.steps, epoch + 1,
                   batch));
  return {};
}

Status TrainingRun::save() {
  if (!writer_ || saved_at_ == trainer_->position().batches) return {};
  const double begin = now();
  Checkpoint out;
  out.model = identity_of(*trainer_);
  out.tensors = trainer_->state();
  for (const auto& [name, value] : options_.settings) out.metadata.set(name, value);
  const EpochPosition at = training_->position();
  out.metadata.set(kStep, trainer_->steps());
  out.metadata.set(kBatches, trainer_->position().batches);
  out.metadata.set(kPending, trainer_->position().pending);
  out.metadata.set(kEpoch, at.epoch);
  out.metadata.set(kBatch, at.batch);
  out.metadata.set(kLoss, sums_.loss);
  out.metadata.set(kRight, sums_.right);
  out.metadata.set(kCounted, sums_.counted);
  SV_ASSIGN(const SavedCheckpoint saved, writer_->save(out));
  for (const std::string& text : saved.notes) note(text);
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
  const auto held_out = [&](double (TrainingSums::*value)() const) {
    return r.held_out ? std::optional(((*r.held_out).*value)()) : std::nullopt;
  };
  const std::vector<std::optional<double>> row = {static_cast<double>(r.epoch),
                                                  r.training.mean_loss(),
                                                  r.training.accuracy(),
                                                  held_out(&TrainingSums::mean_loss),
                                                  held_out(&TrainingSums::accuracy),
                                                  r.rate,
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
  const EpochPosition at = training_->position();
  const int64_t batches = training_->batches_per_epoch();
  SV_ASSIGN(const TrainingBatch batch, training_->next());
  for (const std::string& text : batch.notes) note(text);
  const int64_t step = trainer_->steps(), group = trainer_->accumulate();
  const double rate = options_.schedule.rate(options_.rate, step, ceil_div(batches, group));
  Result<StepResult> result = trainer_->step(batch.data, batch.target, rate);
  if (!result.ok()) return std::move(result).error().in(fmt::format("epoch {}, batch {}", at.epoch + 1, at.batch));
  const bool last = at.batch + 1 == batches;
  if (last) SV_TRY(trainer_->end_group(rate));
  sums_.add(*result);
  rate_ = rate;
  seen_ += batch.rows;
  const double took = now() - begin;
  busy_ += took;
  deadline_.step_took(took);
  if (trainer_->steps() > step) SV_TRY(log_step(result->loss, rate));
  if (events_.progress)
    events_.progress({at.epoch + 1, at.batch + 1, batches, sums_.mean_loss(), static_cast<double>(seen_) / busy_});
  return last ? end_epoch() : Status();
}

Result<TrainingSums> TrainingRun::evaluate() {
  TrainingSums out;
  SV_TRY(held_out_->seek({0, 0}));
  for (int64_t i = 0; i < held_out_->batches_per_epoch(); ++i) {
    SV_ASSIGN(const TrainingBatch batch, held_out_->next());
    for (const std::string& text : batch.notes) note(text);
    if (batch.rows == 0) continue;
    Result<StepResult> result = trainer_->evaluate(batch.data, batch.target);
    if (!result.ok()) return std::move(result).error().in("held-out data");
    out.add(*result);
  }
  return out;
}

Status TrainingRun::end_epoch() {
  EpochReport report;
  report.epoch = training_->position().epoch;
  report.training = sums_;
  report.rate = rate_;
  report.samples_per_second = busy_ > 0 ? static_cast<double>(seen_) / busy_ : 0;
  if (held_out_) {
    SV_ASSIGN(report.held_out, evaluate());
  }
  sums_ = {};
  seen_ = 0, busy_ = 0;
  SV_TRY(log_epoch(report));
  SV_TRY(save());
  if (events_.epoch) events_.epoch(report);
  return {};
}

Result<TrainingEnd> TrainingRun::run() {
  while (training_->position().epoch < options_.epochs) {
    std::string stopped_by = options_.stop ? options_.stop() : std::string();
    if (!stopped_by.empty() || deadline_.due(now())) {
      SV_TRY(save());
      const auto why = stopped_by.empty() ? TrainingEnd::Why::out_of_time : TrainingEnd::Why::stopped;
      return TrainingEnd{why, std::move(stopped_by)};
    }
    SV_TRY(step());
    if (options_.save_every > 0 && trainer_->position().batches % options_.save_every == 0) SV_TRY(save());
  }
  SV_TRY(save());
  return TrainingEnd{};
}

}  // namespace svengine
