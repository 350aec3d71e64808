// svengine train: a network and data in, the trained network out.
#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "importers/io/names.h"
#include "tools/commands/commands.h"
#include "tools/support/json.h"
#include "tools/support/network.h"
#include "tools/support/output.h"
#include "tools/support/stop.h"
#include "tools/train/data.h"
#include "tools/train/settings.h"
#include "validate/convert/trained.h"
#include "validate/convert/weights_stay.h"

namespace svengine::tool {
namespace train_command {

struct Options {
  ModelFile model;
  std::string output;
  TrainingSettings training;
  DataOptions data;
  TrainingRunOptions run;
  std::string schedule = "constant", max_time;
  RuntimeOptions runtime;
  bool json = false;
};

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

/// The header once, and a line for every epoch, as it comes.
class EpochTable {
 public:
  EpochTable(bool labels, bool held_out) : labels_(labels), held_out_(held_out) {}

  void header() const {
    std::string line = fmt::format("{:>6}  {:>10}", "epoch", "loss");
    if (labels_) line += fmt::format("  {:>9}", "accuracy");
    if (held_out_) line += fmt::format("  {:>13}", "held-out loss");
    if (held_out_ && labels_) line += fmt::format("  {:>9}", "accuracy");
    put(line + fmt::format("  {:>9}  {:>10}\n", "samples/s", "rate"));
    (void)finish_output();  // now, as every row; a failure shows at the end too
  }
  void row(const EpochReport& r) const {
    std::string line = fmt::format("{:>6}  {:>10.6f}", r.epoch, r.training.mean_loss());
    if (labels_) line += fmt::format("  {:>9}", percent(r.training.accuracy()));
    if (held_out_) line += fmt::format("  {:>13.6f}", r.held_out->mean_loss());
    if (held_out_ && labels_) line += fmt::format("  {:>9}", percent(r.held_out->accuracy()));
    put(line + fmt::format("  {:>9.1f}  {:>10.4g}\n", r.samples_per_second, r.rate));
    (void)finish_output();
  }

 private:
  bool labels_, held_out_;
};

/// On the terminal's last line, rewritten; nothing where standard error is no terminal.
class ProgressLine {
 public:
  explicit ProgressLine(int64_t epochs) : epochs_(epochs), shown_(isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() { clear(); }

  void show(const TrainingProgress& p) {
    if (!shown_) return;
    if (const double now = watch_.milliseconds(); p.batch < p.batches && now - last_ < 100)
      return;
    else
      last_ = now;
    constexpr int64_t kBar = 24;
    const auto filled = static_cast<size_t>(kBar * p.batch / p.batches);
    const std::string line =
        fmt::format("epoch {}/{} [{}{}] {}/{}  loss {:.4f}  {:.1f}/s", p.epoch, epochs_, std::string(filled, '='),
                    std::string(kBar - filled, ' '), p.batch, p.batches, p.loss, p.samples_per_second);
    fmt::print(stderr, "\r{}\x1b[K", line.substr(0, columns()));
    std::fflush(stderr);
    dirty_ = true;
  }
  void clear() {
    if (dirty_) fmt::print(stderr, "\r\x1b[K"), std::fflush(stderr);
    dirty_ = false;
  }

 private:
  static size_t columns() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
  }
  int64_t epochs_;
  bool shown_, dirty_ = false;
  Stopwatch watch_;
  double last_ = -1000;
};

Json sums_json(const TrainingSums& s, bool labels) {
  Json out = {{"loss", s.mean_loss()}};
  if (labels) out["accuracy"] = s.accuracy();
  return out;
}

Json epoch_json(const EpochReport& r, bool labels) {
  Json out = {{"epoch", r.epoch}, {"training", sums_json(r.training, labels)}};
  if (r.held_out) out["held_out"] = sums_json(*r.held_out, labels);
  out["samples_per_s"] = r.samples_per_second;
  out["rate"] = r.rate;
  return out;
}

Status write_network(const Trainer& trainer, const Model& model, const std::string& path) {
  SV_ASSIGN(validate::TrainedNetwork network, validate::trained_network(trainer, model));
  network.options.producer_version = SVENGINE_VERSION;
  return export_onnx(network.graph, network.options, path);
}

/// The folder must be there before hours of work, not after.
Status check_output(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  if (!std::filesystem::is_directory(folder))
    return error("--output {}: there is no folder {}", printable(path), printable(folder.string()));
  if (access(folder.c_str(), W_OK) != 0)
    return error("--output {}: {} is not writable", printable(path), printable(folder.string()));
  return {};
}

struct Outcome {
  std::vector<EpochReport> epochs;
  std::optional<std::string> stopped;  // by what: a signal, an option
  double seconds = 0;
};

Json to_json(const Options& o, const Trainer& trainer, Session& session, const TrainingData& data, const Outcome& outcome) {
  const bool labels = o.training.step.loss.on_labels();
  Json epochs = Json::array();
  for (const EpochReport& r : outcome.epochs) epochs.push_back(epoch_json(r, labels));
  return {{"model", o.model.path},
          {"data", o.data.data},
          {"samples", data.set().size()},
          {"parameters", trainer.parameters()},
          {"kernels", session.kernels().name},
          {"threads", session.team().threads()},
          {"batch", o.data.batch},
          {"seed", o.data.seed},
          {"steps", trainer.steps()},
          {"epochs", std::move(epochs)},
          {"seconds", outcome.seconds},
          {"planned_bytes", {{"kept", trainer.planned().state}, {"values", trainer.planned().values}}},
          {"peak_rss_mib", peak_rss_mib()},
          {"stopped", outcome.stopped ? Json(*outcome.stopped) : Json()},
          {"output", outcome.stopped ? Json() : Json(o.output)}};
}

void print_head(const Options& o, const Trainer& trainer, Session& session, const TrainingData& data) {
  Table head;
  head.row({"model", o.model.path});
  head.row({"parameters", fmt::format("{} in {} tensors", grouped(trainer.parameters()), trainer.weight_count())});
  head.row({"data", data.describe()});
  head.row({"optimiser", o.training.step.optimizer.text()});
  head.row({"runs on", fmt::format("{}, {} threads", session.kernels().name, session.team().threads())});
  put(head.text() + '\n');
}

/// The library says it without the option's name.
Status check_checkpoints(const TrainingRunOptions& r) {
  if (r.resume || !std::filesystem::is_directory(r.checkpoint)) return {};
  SV_ASSIGN(const std::vector<int64_t> there, checkpoint_generations(r.checkpoint));
  if (there.empty()) return {};
  return error("{} holds checkpoints already: --resume continues from them, another folder begins anew", printable(r.checkpoint));
}

/// What of the options the run takes, after the data are open.
Status complete(TrainingRunOptions& r, const Options& options, TrainingData& data) {
  SV_TRY(check_checkpoints(r));
  if (!options.max_time.empty()) {
    Result<double> limit = parse_duration(options.max_time);
    if (!limit.ok()) return std::move(limit).error().in("--max-time");
    r.max_seconds = *limit;
  }
  r.settings = options.training.metadata();
  r.settings.emplace_back("--data", data.training().describe());
  r.settings.emplace_back("--lr", fmt::format("{}", r.rate));
  r.settings.emplace_back("--schedule", r.schedule.text());
  return {};
}

/// Runs it, and shows how it goes. What ended it early: a signal or an option.
Result<std::optional<std::string>> train(const Options& options, Trainer& trainer, TrainingData& data, Outcome& outcome) {
  const EpochTable table(options.training.step.loss.on_labels(), data.held_out() != nullptr);
  ProgressLine line(options.run.epochs);
  TrainingEvents events;
  events.note = [&](const std::string& note) { line.clear(), print_hint(note); };
  events.progress = [&](const TrainingProgress& p) { line.show(p); };
  events.epoch = [&](const EpochReport& report) {
    line.clear();
    outcome.epochs.push_back(report);
    if (!options.json) table.row(report);
  };
  LoaderBatches batches(data, data.training(), "another sample took its place");
  std::optional<LoaderBatches> held_out;
  if (data.held_out()) held_out.emplace(data, *data.held_out(), "left out");
  TrainingRunOptions run = options.run;
  const StopSignals signals;
  run.stop = [&signals] { return std::string(signals.received() ? signals.received() : ""); };
  SV_ASSIGN(TrainingRun training,
            TrainingRun::create(trainer, batches, held_out ? &*held_out : nullptr, std::move(run), std::move(events)));
  if (!options.json) print_head(options, trainer, trainer.session(), data), table.header();
  SV_ASSIGN(const TrainingEnd end, training.run());
  switch (end.why) {
    case TrainingEnd::Why::stopped:
      return std::optional(end.stopped_by);
    case TrainingEnd::Why::out_of_time:
      return std::optional<std::string>("--max-time");
    case TrainingEnd::Why::finished:
      break;
  }
  return std::optional<std::string>();
}

Result<int> run(Options options) {
  if (!options.output.empty()) SV_TRY(check_output(options.output));
  SV_TRY(options.training.resolve());
  options.data.seed = options.training.step.seed;
  Result<Schedule> schedule = Schedule::parse(options.schedule);
  if (!schedule.ok()) return std::move(schedule).error().in("--schedule");
  options.run.schedule = *schedule;
  if (!options.output.empty()) SV_TRY(validate::check_weights_stay(options.model.path, {options.output}));
  SV_ASSIGN(Model model, load_model(options.model));
  SV_ASSIGN(const SessionOptions session_options, options.runtime.resolve());
  Result<std::unique_ptr<Trainer>> made = Trainer::create(std::move(model.graph), options.training.trainer(session_options));
  if (!made.ok()) return std::move(made).error().in(printable(options.model.path));
  Trainer& trainer = **made;
  SV_ASSIGN(TrainingData data, TrainingData::open(options.data, trainer));
  SV_TRY(complete(options.run, options, data));
  if (!options.output.empty())
    if (Status status = validate::check_trained_network(trainer, model); !status.ok()) return std::move(status).error().in("--output");
  Outcome outcome;
  const Stopwatch watch;
  SV_ASSIGN(outcome.stopped, train(options, trainer, data, outcome));
  outcome.seconds = watch.milliseconds() / 1000;
  if (!outcome.stopped && !options.output.empty()) SV_TRY(write_network(trainer, model, options.output));
  if (options.json) {
    put_json(to_json(options, trainer, trainer.session(), data, outcome));
  } else if (!outcome.epochs.empty()) {
    SV_ASSIGN(const std::string memory, options.training.planned_memory(trainer));
    put(fmt::format("\nplanned memory {}; peak {:.1f} MiB\n", memory, peak_rss_mib()));
  }
  if (outcome.stopped && options.run.checkpoint.empty()) {
    print_error(fmt::format("stopped by {} after step {}; nothing is saved: there is no --checkpoint", *outcome.stopped,
                            trainer.steps()));
    return kFailed;
  }
  if (outcome.stopped)
    print_hint(fmt::format("stopped by {} after step {}, saved in {}; --resume continues", *outcome.stopped, trainer.steps(),
                           options.run.checkpoint));
  return kSuccess;
}

void add_data_options(Command& command, DataOptions& o) {
  constexpr const char* kGroup = "Data";
  command
      .add_option("--data", o.data, "MNIST or CIFAR folder, folder of images by class, .npy or .npz (or a,b), text")
      ->required()
      ->type_name("SOURCE")->group(kGroup);
  Option* validate =
      command
          .add_option("--validate", o.validate,
                      "Held-out data: another source, or 'test': the part of --data meant for it\n(run in inference mode; losses are means over a "
                      "range of data)")
          ->type_name("SOURCE")
          ->group(kGroup);
  command.add_option("--hold-out", o.hold_out, "Hold out this share of --data, drawn by the seed")
      ->check(within(1e-9, 1 - 1e-9))
      ->excludes(validate)
      ->type_name("SHARE")->group(kGroup)->rare();
  command
      .add_option("--field", o.fields,
                  "Which field of the data is which input\ntarget=FIELD: what the answer is compared with")
      ->one_at_a_time()
      ->type_name("INPUT=FIELD")->group(kGroup)
      ->rare();
  command.add_option("--batch", o.batch, "Samples a step (default: 32)")
      ->check(within(int64_t{1}, int64_t{1} << 24))
      ->type_name("N")->group(kGroup);
  command.add_flag("--drop-last", o.drop_last, "Leave out the last batch of an epoch if it is not full")->group(kGroup)
      ->rare();
  command.add_flag("--in-order", o.in_order, "Do not shuffle")->group(kGroup)->rare();
  command.add_option("--augment", o.augment, "Of images, at random: crop=PIXELS of padding, flip")
      ->type_name("LIST")->group(kGroup);
  command.add_option("--image-mean", o.mean, "Subtracted from pixels, which are 0..1\none number, or one a channel (default: 0)")
      ->delimiter(',')
      ->one_at_a_time()
      ->type_name("M[,M,M]")->group(kGroup)->rare();
  command.add_option("--image-std", o.std, "Pixels are divided by this after that (default: 1)")
      ->delimiter(',')
      ->one_at_a_time()
      ->type_name("S[,S,S]")->group(kGroup)->rare();
  command.add_option("--resize", o.resize, "Bring images of a folder to this height and width")
      ->check(within(int64_t{1}, int64_t{1} << 14))
      ->type_name("PIXELS")->group(kGroup)->rare();
  command.add_option("--tokens", o.tokens, "Text is one stream, cut into samples of N tokens; targets are the tokens after them")
      ->check(within(int64_t{1}, int64_t{1} << 24))
      ->type_name("N")->group(kGroup)->rare();
  command.add_flag("--skip-bad", o.skip_bad, "Go on without samples that cannot be read, naming them")->group(kGroup)
      ->rare();
  command.add_option("--load-threads", o.threads, "Threads that make batches in the background (default: 1)")
      ->check(within(0, 256))
      ->type_name("N")->group(kGroup)->rare();
}

void add_run_options(Command& command, Options& o) {
  constexpr const char* kGroup = "Run";
  command.add_option("--epochs", o.run.epochs, "Times through the data (default: 1)")
      ->check(within(int64_t{1}, int64_t{1} << 40))
      ->type_name("N")->group(kGroup);
  command.add_option("--lr", o.run.rate, "Learning rate (default: 0.1)")->check(not_negative())->type_name("RATE")->group(kGroup);
  command
      .add_option("--schedule", o.schedule,
                  "How it changes: constant, step:every=30, cosine:epochs=90,warmup=5, linear:.., noam:..")
      ->type_name("SCHEDULE")->group(kGroup);
  Option* checkpoint = command.add_option("--checkpoint", o.run.checkpoint, "Folder for checkpoints, one after every epoch")
                                ->type_name("DIR")
                                ->group(kGroup);
  command.add_option("--keep", o.run.keep, "Checkpoints to keep (default: 3)")
      ->check(within(1, 1 << 20))
      ->needs(checkpoint)
      ->type_name("N")->group(kGroup)->rare();
  command.add_option("--save-every", o.run.save_every, "Save after so many batches, too")
      ->check(within(int64_t{1}, int64_t{1} << 40))
      ->needs(checkpoint)
      ->type_name("BATCHES")->group(kGroup)->rare();
  command
      .add_flag("--resume", o.run.resume,
                "Continue from the newest checkpoint\nbitwise as if never interrupted; begin where there is none")
      ->needs(checkpoint)
      ->group(kGroup);
  command.add_option("--max-time", o.max_time, "Save and end in time: 90, 45m, 1h30m, 1:30:00")->type_name("TIME")->group(kGroup)->rare();
  command.add_option("--log-dir", o.run.log_dir, "Folder for TensorBoard events, training.csv (epochs) and steps.csv")
      ->type_name("DIR")->group(kGroup);
  command.add_option("--log-every", o.run.log_every, "Steps between events of single steps (default: 50)")
      ->check(within(int64_t{1}, int64_t{1} << 40))
      ->type_name("STEPS")->group(kGroup)->rare();
}

}  // namespace train_command

Action add_train(Command& program) {
  using namespace train_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("train", "Train a network and write it as ONNX");
  add_model(command, options->model);
  command.add_option("--output", options->output, "The trained network")->type_name("FILE");
  add_data_options(command, options->data);
  add_training_options(command, options->training);
  add_run_options(command, *options);
  add_runtime_options(command, options->runtime);
  add_json(command, options->json);
  command.footer(
      "SIGTERM, SIGUSR1 and SIGINT save and end (exit code 0 with --checkpoint, else 1).\n"
      "Examples:\n"
      "  svengine train resnet.onnx --data fashion-mnist/ --validate test --output trained.onnx --epochs 10 \\\n"
      "    --optimizer sgd:momentum=0.9,weight_decay=5e-4 --schedule cosine:epochs=10,warmup=1 --augment crop=2,flip --init");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
