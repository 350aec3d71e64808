// A whole training run: epochs of steps, evaluation, logs, checkpoints, and ends that lose nothing.
//
//     BatchSource ──batches──> TrainingRun ──step()──> Trainer            after every epoch, and every save_every batches:
//         ^                        │                                      checkpoint (weights, states, position, sums so far)
//         └──────── seek() ────────┘ on resume                            training.csv, steps.csv, TensorBoard events
//
// A run that is resumed goes on bitwise as if it had never been interrupted, whatever ended it, provided that its source gives
// the same batches for the same positions. It prints nothing and installs no signal handler: what happens is told to
// TrainingEvents, and what shall end it is asked of TrainingRunOptions::stop.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/log/csv_log.h"
#include "runtime/log/event_writer.h"
#include "runtime/schedule.h"
#include "runtime/train/deadline.h"
#include "runtime/train/trainer.h"

namespace svengine {

/// A place between two batches: so many whole epochs, and so many batches of the next, are done.
struct EpochPosition {
  int64_t epoch = 0, batch = 0;
};

struct TrainingBatch {
  std::vector<Tensor> data;  // in the order of Trainer::data()
  Tensor target;
  int64_t rows = 0;                // samples
  std::vector<std::string> notes;  // on samples that could not be read, to be told
};

/// Batches in an order that depends on nothing but the position. One caller at a time.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// At least 1, and always the same.
  virtual int64_t batches_per_epoch() const = 0;
  /// Of the batch that next() gives.
  virtual EpochPosition position() const = 0;
  virtual Status seek(EpochPosition to) = 0;
  /// The batch at position(), which moves on to the next, epoch after epoch. Good until the following call. One without rows is
  /// left out of an evaluation.
  virtual Result<TrainingBatch> next() = 0;
};

struct TrainingRunOptions {
  int64_t epochs = 1;
  double rate = 0.1;
  Schedule schedule;
  std::string checkpoint;  // a folder; empty: none is written
  int keep = 3;
  int64_t save_every = 0;  // batches; 0: after every epoch only
  /// Continue from the newest checkpoint in the folder; begin where there is none. Without it a folder with checkpoints is
  /// refused.
  bool resume = false;
  std::string log_dir;     // empty: none
  int64_t log_every = 50;  // steps
  double max_seconds = 0;  // since create(), saving included; 0: no limit
  /// Asked before every step, by the thread that runs: anything but an empty answer saves and ends the run, and says what wanted
  /// it.
  std::function<std::string()> stop;
  std::vector<std::pair<std::string, std::string>> settings;  // of which a checkpoint must have the same: option and value
};

/// Sums over a stretch of data.
struct TrainingSums {
  double loss = 0;  // times what was counted
  int64_t right = 0, counted = 0;

  void add(const StepResult& result);
  double mean_loss() const { return counted ? loss / static_cast<double>(counted) : 0; }
  double accuracy() const { return counted ? static_cast<double>(right) / static_cast<double>(counted) : 0; }
};

struct EpochReport {
  int64_t epoch = 0;  // from 1
  TrainingSums training;
  std::optional<TrainingSums> held_out;
  double rate = 0;                // of the last step
  double samples_per_second = 0;  // of training, without evaluation and saving; of this process's share of the epoch
};

struct TrainingProgress {
  int64_t epoch = 0, batch = 0, batches = 0;  // from 1
  double loss = 0, samples_per_second = 0;    // of the epoch so far
};

/// Called by the thread that runs, between steps; those that are empty are left out.
struct TrainingEvents {
  std::function<void(const EpochReport&)> epoch;          // its checkpoint is written
  std::function<void(const TrainingProgress&)> progress;  // after every step
  std::function<void(const std::string&)> note;           // what a person should know, and is no error
};

struct TrainingEnd {
  enum class Why { finished, stopped, out_of_time };
  Why why = Why::finished;
  std::string stopped_by;  // what TrainingRunOptions::stop said
};

/// Not thread-safe. After an error the run is over; its last checkpoint is what there is.
class TrainingRun {
 public:
  /// Resumes from the newest checkpoint where that is wanted and there is one. Refuses checkpoints of other settings, naming
  /// them. Trainer and sources must outlive the run; `held_out` may be null: no evaluation.
  static Result<TrainingRun> create(Trainer& trainer, BatchSource& training, BatchSource* held_out, TrainingRunOptions options,
                                    TrainingEvents events);

  /// Until the last epoch is done, or something ends it before. All is saved then, where there is a folder for it.
  Result<TrainingEnd> run();

 private:
  TrainingRun(Trainer& trainer, BatchSource& training, BatchSource* held_out, TrainingRunOptions options, TrainingEvents events)
      : trainer_(&trainer), training_(&training), held_out_(held_out), options_(std::move(options)), events_(std::move(events)) {}
  Status open_checkpoints();
  Status open_logs();
  Status resume();
  Status save();
  Status step();
  Result<TrainingSums> evaluate();
  Status end_epoch();
  Status log_step(double loss, double rate);
  Status log_epoch(const EpochReport& report);
  void note(const std::string& text) const;

  Trainer* trainer_;
  BatchSource* training_;
  BatchSource* held_out_;
  TrainingRunOptions options_;
  TrainingEvents events_;
  std::unique_ptr<CheckpointWriter> writer_;
  std::unique_ptr<EventWriter> tensorboard_;
  std::unique_ptr<CsvLog> csv_, steps_csv_;
  Deadline deadline_;
  TrainingSums sums_;  // of the present epoch
  double rate_ = 0;    // of the last step
  int64_t seen_ = 0;   // samples of this process in the present epoch
  double busy_ = 0;    // seconds that took
  int64_t saved_at_ = -1;
};

}  // namespace svengine
