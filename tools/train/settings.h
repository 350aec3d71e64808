// Options that `svengine train` and `svengine bench --train` share: what a step is.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "runtime/train/trainer.h"
#include "tools/support/command_line.h"

namespace svengine::tool {

struct TrainingSettings {
  std::string loss = "cross_entropy", optimizer = "sgd";
  std::vector<std::string> freeze;                // patterns of names: * and ?
  std::vector<int64_t> ignore_index, class_axis;  // none or one
  std::string class_weights;                      // class_weights.h; empty: none
  bool initialise = false, detect_anomaly = false;
  std::string recompute = "cheap";
  StepGraphOptions step;  // resolve() sets it from what is above

  Status resolve();
  TrainerOptions trainer(const SessionOptions& session) const;
  /// "812.3 MiB: 195.1 of weights and states, 617.2 of a step's values (..)": of the largest step so far.
  Result<std::string> planned_memory(const Trainer& trainer) const;
  /// What a run that resumes another must have alike: option and value.
  std::vector<std::pair<std::string, std::string>> metadata() const;
};

/// --loss, --optimizer and what belongs to them. Call resolve() after parsing.
void add_training_options(Command& command, TrainingSettings& settings);
/// Of these only what decides what a step costs.
void add_step_options(Command& command, TrainingSettings& settings, const char* group);

}  // namespace svengine::tool
