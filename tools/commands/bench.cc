// svengine bench: how long a network takes, from the file to the steady state, and where the time goes; with --train, how long a
// training step takes.
#include <algorithm>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "importers/io/names.h"
#include "runtime/weight_cache.h"
#include "tools/commands/commands.h"
#include "tools/support/json.h"
#include "tools/support/network.h"
#include "tools/support/output.h"
#include "tools/support/profile.h"
#include "tools/support/times.h"
#include "tools/train/random_batch.h"
#include "tools/train/settings.h"

namespace svengine::tool {
namespace bench_command {

struct Options {
  ModelFile model;
  InputOptions inputs;
  RuntimeOptions runtime;
  int64_t warmup = 1;
  int64_t iterations = 0;  // 0: until `duration` has passed
  double duration = 2;     // seconds
  bool profile = false;
  bool train = false;
  TrainingSettings training;
  int64_t batch = 16;  // of a training step
  size_t top = 5;
  bool json = false;
};

constexpr int64_t kLeastIterations = 3;

struct Report {
  double load_ms = 0, optimise_ms = 0, first_ms = 0;
  std::vector<double> times;
  TimeSummary steady;
  double cpu_ms = 0;  // the processor's time of a run, all threads together: what a busy machine hardly changes
  int64_t batch = 1;
  double throughput = 0;
  std::string inputs;
  std::string memory;  // the planned one of a training step, in words; empty: it is none
  Trainer::Memory planned;
  std::vector<ProfileRow> profile;
};

/// Samples in a run: the leading dimension that the first input and the first output have in common.
int64_t batch_of(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  if (inputs.empty() || outputs.empty()) return 1;
  const Dims &in = inputs[0].dims(), &out = outputs[0].dims();
  return in.size() >= 2 && !out.empty() && in[0] == out[0] ? in[0] : 1;
}

std::string describe_inputs(const std::vector<Session::Port>& ports, const std::vector<Tensor>& tensors) {
  std::string out;
  for (size_t i = 0; i < ports.size(); ++i)
    out += fmt::format("{}{} {}[{}]", i ? ", " : "", ports[i].name, name_of(tensors[i].type()), to_string(tensors[i].dims()));
  return out;
}

/// What is measured: one run, profiled or not.
using RunOnce = std::function<Status(bool profile)>;

/// Fills in the times of the first and of the steady runs.
Status measure(const Options& options, const RunOnce& run_once, Report& report) {
  const Stopwatch first;
  SV_TRY(run_once(false));
  report.first_ms = first.milliseconds();
  for (int64_t i = 0; i < options.warmup; ++i) SV_TRY(run_once(false));
  const Stopwatch all;
  const std::clock_t used = std::clock();
  const auto wanted = [&](int64_t done) {
    if (options.iterations > 0) return done < options.iterations;
    return done < kLeastIterations || all.milliseconds() < 1000 * options.duration;
  };
  for (int64_t i = 0; wanted(i); ++i) {
    const Stopwatch watch;
    SV_TRY(run_once(options.profile));
    report.times.push_back(watch.milliseconds());
  }
  report.cpu_ms = 1e3 * static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC / static_cast<double>(report.times.size());
  report.steady = summarise(report.times);
  return {};
}

void finish(const Options& options, const Session& session, Report& report) {
  report.throughput = 1000 * static_cast<double>(report.times.size()) * static_cast<double>(report.batch) / report.steady.sum;
  if (options.profile) report.profile = session.profile();
}

Json profile_json(const std::vector<ProfileEntry>& entries) {
  Json out = Json::array();
  for (const ProfileEntry& e : entries)
    out.push_back({{"op", e.op}, {"node", e.node}, {"kernel", e.kernel}, {"nodes", e.count}, {"ms", e.ms},
                   {"share", e.share}, {"gflops", e.gflops}});
  return out;
}

Json to_json(const Options& options, const Session& session, const Report& r) {
  const TimeSummary& t = r.steady;
  Json out = {
      {"model", options.model.path},
      {"inputs", r.inputs},
      {"seed", options.inputs.seed_of_inputs()},
      {"kernels", session.kernels().name},
      {"threads", session.team().threads()},
      {"flush_denormals", session.team().flush_denormals()},
      {"warmup", options.warmup},
      {"iterations", r.times.size()},
      {"batch", r.batch},
      {"load_ms", r.load_ms},
      {"optimise_ms", r.optimise_ms},
      {"first_ms", r.first_ms},
      {"min_ms", t.min},
      {"mean_ms", t.mean},
      {"median_ms", t.median},
      {"p90_ms", t.p90},
      {"p99_ms", t.p99},
      {"max_ms", t.max},
      {"cpu_ms", r.cpu_ms},
      {"throughput_per_s", r.throughput},
      {"planned_bytes", {{"kept", r.planned.state}, {"values", r.planned.values}}},
      {"peak_rss_mib", peak_rss_mib()},
  };
  const CacheReport cache = session.cache_report();
  if (!cache.file.empty())
    out["cache"] = {{"file", cache.file},           {"found", cache.layouts.found},         {"found_bytes", cache.layouts.found_bytes},
                    {"packed", cache.layouts.packed}, {"model_read", cache.model_read}, {"written", cache.written}};
  if (!options.profile) return out;
  const auto runs = static_cast<int64_t>(r.times.size());
  out["profile"] = {{"nodes", profile_json(profile_by_node(r.profile, runs))},
                    {"operators", profile_json(profile_by_operator(r.profile, runs))}};
  return out;
}

std::string to_text(const Options& options, const Session& session, const Report& r, bool random) {
  const auto ms = [](double value) { return fmt::format("{:.3f} ms", value); };
  const TimeSummary& t = r.steady;
  Table head, times({}, {Table::Align::left, Table::Align::right});
  head.row({"model", options.model.path});
  head.row({"inputs", r.inputs + (random ? fmt::format(" (random, seed {})", options.inputs.seed_of_inputs()) : "")});
  head.row(
      {"runs on", fmt::format("{}, {} threads, {}", session.kernels().name, session.team().threads(), session.page_report())});
  const CacheReport cache = session.cache_report();
  if (!cache.file.empty())
    head.row({"cache", fmt::format("{} packed layouts ({}) found, {} packed{}{}", cache.layouts.found,
                                   bytes_text(static_cast<double>(cache.layouts.found_bytes)), cache.layouts.packed,
                                   cache.written ? " and written" : "", cache.model_read ? ", model file read to know it" : "")});
  if (!r.memory.empty()) head.row({"planned memory", r.memory});
  times.row({"load", ms(r.load_ms)});
  times.row({"optimise", ms(r.optimise_ms)});
  times.row({"first run", ms(r.first_ms)});
  times.row({"min", ms(t.min)});
  times.row({"median", ms(t.median)});
  times.row({"p90", ms(t.p90)});
  times.row({"p99", ms(t.p99)});
  times.row({"max", ms(t.max)});
  times.row({"processor time", ms(r.cpu_ms)});
  times.row({"throughput", fmt::format("{:.2f} /s", r.throughput)});
  times.row({"peak memory", fmt::format("{:.1f} MiB", peak_rss_mib())});
  std::string out = head.text() + fmt::format("\n{} runs after {} to warm up, {} per run\n", r.times.size(), options.warmup + 1,
                                              r.batch == 1 ? "1 sample" : fmt::format("{} samples", r.batch));
  out += times.text("  ");
  if (options.profile) {
    out += '\n' + profile_text(r.profile, static_cast<int64_t>(r.times.size()), options.top);
    for (const auto& plan : session.plans()) out += '\n' + memory_text(*plan, options.top);
  }
  return out;
}

void print_report(const Options& options, const Session& session, const Report& report, bool random) {
  if (options.json)
    put_json(to_json(options, session, report));
  else
    put(to_text(options, session, report, random));
}

Result<int> run_training(Options options) {
  SV_TRY(options.training.resolve());
  options.training.step.seed = options.inputs.seed_of_inputs();
  SV_ASSIGN(const SessionOptions session_options, options.runtime.resolve());
  Report report;
  const Stopwatch load;
  SV_ASSIGN(Model model, load_model(options.model));
  report.load_ms = load.milliseconds();
  const IndexBounds bounds = find_index_bounds(model.graph);
  const Stopwatch optimise;
  Result<std::unique_ptr<Trainer>> made = Trainer::create(std::move(model.graph), options.training.trainer(session_options));
  if (!made.ok()) return std::move(made).error().in(printable(options.model.path));
  Trainer& trainer = **made;
  report.optimise_ms = optimise.milliseconds();
  SV_ASSIGN(const RandomBatch batch, make_random_batch(trainer, options.batch, options.inputs, bounds));
  print_notes(batch.data);
  // The rate is 0: hundreds of steps on one batch must not end in numbers that are not finite. It costs the same.
  const RunOnce step = [&](bool profile) -> Status {
    SV_ASSIGN(const StepResult result, trainer.step(batch.data.tensors, batch.target, 0, profile));
    (void)result;
    return {};
  };
  SV_TRY(measure(options, step, report));
  report.batch = options.batch;
  report.inputs = describe_inputs(trainer.data(), batch.data.tensors);
  report.planned = trainer.planned();
  SV_ASSIGN(report.memory, options.training.planned_memory(trainer));
  finish(options, trainer.session(), report);
  print_report(options, trainer.session(), report, !batch.data.random.empty());
  return kSuccess;
}

Result<int> run(const Options& options) {
  if (options.train) return run_training(options);
  SV_ASSIGN(Network network, load_network(options.model, options.runtime, names_of_files(options.inputs)));
  SV_ASSIGN(const Inputs inputs, make_inputs(network.inputs, options.inputs, network.bounds));
  print_notes(inputs);
  SV_TRY(make_ready(network, inputs.tensors));
  Report report;
  report.load_ms = network.load_ms;
  report.optimise_ms = network.optimise_ms;
  const RunOnce run_once = [&](bool profile) -> Status {
    SV_ASSIGN(const std::vector<Tensor> outputs, run_network(network, inputs.tensors, profile));
    report.batch = batch_of(inputs.tensors, outputs);
    return {};
  };
  SV_TRY(measure(options, run_once, report));
  report.inputs = describe_inputs(network.session->inputs(), inputs.tensors);
  for (const auto& plan : network.session->plans())
    report.planned = {std::max(report.planned.state, plan->constant_bytes), std::max(report.planned.values, plan->arena_bytes)};
  finish(options, *network.session, report);
  print_report(options, *network.session, report, !inputs.random.empty());
  return kSuccess;
}

}  // namespace bench_command

Action add_bench(Command& program) {
  using namespace bench_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("bench", "Measure load, optimisation, first run and steady times, and memory");
  add_model(command, options->model);
  command.add_option("--warmup", options->warmup, "Runs after the first one that are not counted (default: 1)")
      ->check(within(int64_t{0}, int64_t{1} << 30))
      ->type_name("N");
  Option* iterations =
      command.add_option("--iterations", options->iterations, "Runs to measure")
          ->check(within(int64_t{1}, int64_t{1} << 30))
          ->type_name("N");
  command.add_option("--duration", options->duration, "Measure for this long, and at least 3 runs (default: 2)")
      ->check(not_negative())
      ->excludes(iterations)
      ->type_name("SECONDS");
  command.add_flag("--profile", options->profile, "Show the costliest nodes and operators, and what takes most memory");
  command.add_option("--top", options->top, "How many of them (default: 5)")->check(within(1, 1 << 20))->type_name("N");
  Option* train =
      command.add_flag("--train", options->train, "Measure a training step: forward, backward, update of the weights")
          ->group("Training");
  add_step_options(command, options->training, "Training");
  command.add_option("--batch", options->batch, "Samples of a training step (default: 16)")
      ->check(within(int64_t{1}, int64_t{1} << 24))
      ->needs(train)
      ->type_name("N")
      ->group("Training");
  add_input_options(command, options->inputs);
  add_runtime_options(command, options->runtime);
  add_json(command, options->json);
  command.footer(
      "Times are of whole runs, outputs allocated; throughput counts samples: the leading dimension of the first input, where\n"
      "the first output has the same. A node's GFLOP/s are its arithmetic as written, so a fused one counts what it replaced.\n"
      "Examples:\n  svengine bench resnet50.onnx --dim N=8\n  svengine bench bert.onnx --dim S=128 --iterations 100 --json\n"
      "  svengine bench resnet50.onnx --profile --top 10\n"
      "  svengine bench resnet50.onnx --train --batch 16 --optimizer sgd:momentum=0.9 --profile");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
