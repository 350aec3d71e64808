#include "tools/train/settings.h"

#include <fnmatch.h>

#include "tools/support/options.h"
#include "tools/train/class_weights.h"

namespace svengine::tool {

namespace {

constexpr std::pair<const char*, Recompute> kRecompute[] = {
    {"none", Recompute::none}, {"cheap", Recompute::cheap}, {"segments", Recompute::segments}};

/// The parser has checked the name.
Recompute recomputation(const std::string& name) {
  for (const auto& [known, level] : kRecompute)
    if (name == known) return level;
  return Recompute::none;
}

}  // namespace

Status TrainingSettings::resolve() {
  const std::optional<Loss> kind = loss_named(loss);
  if (!kind) return error("--loss {}: there are cross_entropy, nll, mse, l1, smooth_l1 and bce_with_logits", loss);
  step.loss.kind = *kind;
  const bool of_labels = !ignore_index.empty() || !class_axis.empty() || step.loss.label_smoothing != 0 || !class_weights.empty();
  if (!step.loss.on_labels() && of_labels)
    return error("--loss {} has no labels, so no --ignore-index, --class-axis, --class-weights or --label-smoothing", loss);
  if (!class_weights.empty()) {
    SV_ASSIGN(step.loss.class_weights, parse_class_weights(class_weights));
  }
  if (!ignore_index.empty()) step.loss.ignore_index = ignore_index.front();
  if (!class_axis.empty()) step.loss.class_axis = class_axis.front();
  Result<OptimizerOptions> parsed = OptimizerOptions::parse(optimizer);
  if (!parsed.ok()) return std::move(parsed).error().in("--optimizer");
  step.optimizer = *parsed;
  step.frozen = [patterns = freeze](const std::string& name) {
    for (const std::string& p : patterns)
      if (fnmatch(p.c_str(), name.c_str(), 0) == 0) return true;
    return false;
  };
  return {};
}

TrainerOptions TrainingSettings::trainer(const SessionOptions& session) const {
  return {.step = step,
          .initialise = initialise,
          .detect_anomaly = detect_anomaly,
          .recompute = recomputation(recompute),
          .session = session};
}

Result<std::string> TrainingSettings::planned_memory(const Trainer& trainer) const {
  const auto mib = [](int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  const Trainer::Memory m = trainer.planned();
  std::string out = fmt::format("{:.1f} MiB: {:.1f} of weights and states, {:.1f} of a step's values", mib(m.state + m.values),
                                mib(m.state), mib(m.values));
  if (recompute == "none") return out;
  SV_ASSIGN(const Trainer::Memory without, trainer.planned_with(Recompute::none));
  return out + fmt::format(" ({:.1f} without recomputation)", mib(without.values));
}

std::vector<std::pair<std::string, std::string>> TrainingSettings::metadata() const {
  std::string frozen;
  for (const std::string& p : freeze) frozen += (frozen.empty() ? "" : " ") + p;
  return {{"--loss", fmt::format("{} of '{}', smoothing {}, beta {}, ignoring {}, class axis {}", loss, step.loss.output,
                                 step.loss.label_smoothing, step.loss.beta,
                                 ignore_index.empty() ? "nothing" : std::to_string(ignore_index.front()),
                                 class_axis.empty() ? "by rank" : std::to_string(class_axis.front()))},
          {"--optimizer", step.optimizer.text()},
          {"--accumulate", std::to_string(step.accumulate)},
          {"--class-weights", fmt::format("{}", fmt::join(step.loss.class_weights, ","))},
          {"--clip-norm", fmt::format("{}", step.clip_norm)},
          {"--seed", std::to_string(step.seed)},
          {"--freeze", frozen}};
}

void add_step_options(Command& command, TrainingSettings& s, const char* group) {
  command.add_option("--loss", s.loss, "cross_entropy, nll, mse, l1, smooth_l1 or bce_with_logits (default: cross_entropy)")
      ->type_name("LOSS")
      ->group(group);
  command.add_option("--loss-of", s.step.loss.output, "The output it is of (default: the first)")
      ->type_name("OUTPUT")
      ->group(group)
      ->rare();
  command.add_option("--class-axis", s.class_axis, "The output's dimension that counts classes (default: 1; of rank 3 the last)")
      ->single()
      ->type_name("AXIS")
      ->group(group)
      ->rare();
  command
      .add_option("--optimizer", s.optimizer,
                  "sgd, adam, adamw, adagrad, lars or lamb (default: sgd)\nwith numbers: sgd:momentum=0.9,nesterov=1,weight_decay=5e-4")
      ->type_name("OPTIMISER")
      ->group(group);
  command.add_option("--clip-norm", s.step.clip_norm, "Scale gradients so that the norm of all together is at most this")
      ->check(within(1e-30, 1e30))
      ->type_name("NORM")
      ->group(group)
      ->rare();
  command
      .add_flag("--recompute{segments}", s.recompute,
                "For less memory compute whole segments of the network again in the backward pass; =cheap (default): only what is "
                "quickly done; =none")
      ->check(one_of({"none", "cheap", "segments"}))
      ->group(group)
      ->rare();
  command
      .add_option("--freeze", s.freeze,
                  "Leave constants as they are whose names match\n*: any characters, ?: any one; all others of rank 1 or more are trained, "
                  "running statistics of batch norms updated")
      ->one_at_a_time()
      ->type_name("PATTERN")
      ->group(group);
}

void add_training_options(Command& command, TrainingSettings& s) {
  constexpr const char* kGroup = "Training";
  add_step_options(command, s, kGroup);
  command.add_option("--label-smoothing", s.step.loss.label_smoothing, "Share of the target that all classes get (default: 0)")
      ->check(within(0.0, 1.0))
      ->type_name("SHARE")
      ->group(kGroup)
      ->rare();
  command.add_option("--ignore-index", s.ignore_index, "Label of what does not count")
      ->single()
      ->type_name("LABEL")
      ->group(kGroup)
      ->rare();
  command
      .add_option("--class-weights", s.class_weights,
                  "Weights by which samples count, one a class: 1,2.5,1, or a file of numbers (text or .npy)")
      ->type_name("LIST|FILE")
      ->group(kGroup)
      ->rare();
  command
      .add_option("--accumulate", s.step.accumulate,
                  "Step with the mean gradient of N batches, or of those left at an epoch's end (default: 1)")
      ->check(within(int64_t{1}, int64_t{1} << 24))
      ->type_name("N")
      ->group(kGroup)
      ->rare();
  add_seed(command, s.step.seed, "Seed of order, augmentation, dropout and first weights (default: 1)")->group(kGroup);
  command.add_flag("--init", s.initialise, "Begin with new weights, drawn by the seed, instead of the file's")->group(kGroup);
  command
      .add_flag("--detect-anomaly", s.detect_anomaly,
                "Name the first operator whose result is not finite (twice the memory for weights)")
      ->group(kGroup)
      ->rare();
}

}  // namespace svengine::tool
