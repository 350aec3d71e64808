// The loop of `svengine train`: epochs of steps, evaluation, logs, checkpoints, and ends that lose nothing.
#pragma once
#include <functional>
#include <optional>

#include "runtime/log/csv_log.h"
#include "runtime/log/event_writer.h"
#include "runtime/schedule.h"
#include "tools/support/stop.h"
#include "tools/train/data.h"

namespace svengine::tool {

struct RunOptions {
  int64_t epochs = 1;
  int64_t accumulate = 1;  // batches a step: as the trainer has it
  double rate = 0.1;
  Schedule schedule;
  std::string checkpoint;  // a folder; empty: none is written
  int keep = 3;
  int64_t save_every = 0;  // batches; 0: after every epoch only
  bool resume = false;
  std::string log_dir;                                        // empty: none
  int64_t log_every = 50;                                     // steps
  std::string max_time;                                       // empty: no limit
  std::vector<std::pair<std::string, std::string>> settings;  // of which a checkpoint must have the same: option and value
};

/// Sums over a range of data.
struct Sums {
  double loss = 0;  // times what was counted
  int64_t right = 0, counted = 0;

  void add(const StepResult& result);
  double mean_loss() const { return counted ? loss / static_cast<double>(counted) : 0; }
  double accuracy() const { return counted ? static_cast<double>(right) / static_cast<double>(counted) : 0; }
};

struct EpochReport {
  int64_t epoch = 0;  // from 1
  Sums training;
  std::optional<Sums> held_out;
  double rate = 0;                // of the last step
  double samples_per_second = 0;  // of training, without evaluation and saving; of this process's share of the epoch
};

struct Progress {
  int64_t epoch = 0, batch = 0, batches = 0;
  double loss = 0, samples_per_second = 0;
};

struct Events {
  std::function<void(const EpochReport&)> epoch;
  std::function<void(const Progress&)> progress;
  std::function<void(const std::string&)> note;
};

class TrainingRun {
 public:
  /// Resumes from the newest checkpoint where that is wanted and there is one. Refuses checkpoints of other settings, naming
  /// them.
  static Result<TrainingRun> create(Trainer& trainer, TrainingData& data, RunOptions options, Events events);

  /// Until the last epoch is done, or something ends it before: then "SIGTERM" or "--max-time" is returned, and all is saved
  /// where there is a folder for it.
  Result<std::optional<std::string>> run();

  /// Where resume found the run: steps done; 0 for a fresh one.
  int64_t resumed_at() const { return resumed_at_; }

 private:
  TrainingRun(Trainer& trainer, TrainingData& data, RunOptions options, Events events)
      : trainer_(&trainer), data_(&data), options_(std::move(options)), events_(std::move(events)) {}
  Status open_checkpoints();
  Status open_logs();
  Status resume();
  Status save();
  Status step();
  Result<Sums> evaluate();
  Status end_epoch();
  Status log_step(double loss, double rate);
  Status log_epoch(const EpochReport& report);

  Trainer* trainer_;
  TrainingData* data_;
  RunOptions options_;
  Events events_;
  std::unique_ptr<CheckpointWriter> writer_;
  std::unique_ptr<EventWriter> tensorboard_;
  std::unique_ptr<CsvLog> csv_, steps_csv_;
  Deadline deadline_;
  Sums sums_;         // of the present epoch
  double rate_ = 0;   // of the last step
  int64_t seen_ = 0;  // samples of this process in the present epoch
  double busy_ = 0;   // seconds that took
  int64_t resumed_at_ = 0, saved_at_ = -1;
};

}  // namespace svengine::tool
