// svengine reduce: the smallest part of a model that still has a fault.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "importers/io/names.h"
#include "tools/commands/commands.h"
#include "tools/support/json.h"
#include "tools/support/network.h"
#include "tools/support/output.h"
#include "tools/support/stop.h"
#include "validate/reduce/command_check.h"
#include "validate/reduce/reference.h"

namespace svengine::tool {
namespace reduce_command {

using validate::Recording, validate::ReduceReport;

struct Options {
  ModelFile model;
  std::string check, against, output = "reduced";
  std::string timeout, max_time;
  validate::Tolerance tolerance;
  InputOptions inputs;
  RuntimeOptions runtime;
  bool freeze = false, exact = false, json = false;
};

/// A new folder for candidates and recorded values, removed with all that is in it.
class Scratch {
 public:
  static Result<Scratch> make() {
    std::error_code problem;
    std::string name = (std::filesystem::temp_directory_path(problem) / "svengine_reduce_XXXXXX").string();
    if (problem || !mkdtemp(name.data())) return error("cannot make a folder for candidates in {}", name);
    return Scratch(std::move(name));
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  Result<std::string> folder(const char* name) const {
    std::string path = path_ + '/' + name;
    std::error_code problem;
    std::filesystem::create_directory(path, problem);
    if (problem) return error("{}: {}", path, problem.message());
    return path;
  }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// One line on standard error that is written over, only where a person looks at it.
class ProgressLine {
 public:
  void show(const validate::ReduceProgress& p) {
    if (!shown_) return;
    std::fprintf(stderr, "\r\x1b[K%s: %d nodes, %lld checks, %.1f s", p.stage.c_str(), p.nodes, static_cast<long long>(p.checks),
                 p.seconds);
    std::fflush(stderr);
  }
  ~ProgressLine() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }

 private:
  const bool shown_ = isatty(STDERR_FILENO) != 0;
};

struct Given {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
};

Result<Given> given_inputs(const Options& options) {
  SV_ASSIGN(const Model model, load_model(options.model));
  const std::vector<Session::Port> ports = input_ports(model.graph);
  SV_ASSIGN(Inputs inputs, make_inputs(ports, options.inputs, find_index_bounds(model.graph)));
  print_notes(inputs);
  Given out;
  for (const Session::Port& port : ports) out.names.push_back(port.name);
  out.tensors = std::move(inputs.tensors);
  return out;
}

/// Of what the fault is a difference from: the model itself, without optimisation, where it is not another model.
struct Reference {
  bool is_model = false;
  SessionOptions session;
};

Result<Reference> reference_of(const Options& options) {
  Reference out;
  SV_ASSIGN(out.session, options.runtime.resolve());
  out.session.optimize = false;
  if (const auto* set = kernels::find_kernel_set(options.against)) out.session.kernels = set;
  else out.is_model = !options.against.empty() && options.against != "no-optimize";
  return out;
}

/// What the values should be, or without a reference what they are.
Result<Recording> record(const Options& options, const Reference& reference, const onnx::OnnxFile& file, const std::string& folder) {
  SV_ASSIGN(SessionOptions session, options.runtime.resolve());
  SV_ASSIGN(const Given given, given_inputs(options));
  if (reference.is_model) return validate::record_other(file, given.names, given.tensors, options.against, session, folder);
  return Recording::make(options.model.path, validate::computed_names(file.model()), given.tensors, reference.session, folder);
}

/// `data` must outlive it.
validate::FaultCheck fault_of(const Options& options, const Reference& reference, const Recording& data, const SessionOptions& session,
                              const validate::CommandCheck& command) {
  if (!options.check.empty()) return fault_by_command(command);
  if (reference.is_model) return validate::differs_from_recording(data, session, options.tolerance);
  return validate::differs_between(session, reference.session, options.tolerance);
}

Json names_json(const std::vector<std::string>& names) {
  Json out = Json::array();
  for (const std::string& name : names) out.push_back(name);
  return out;
}

void show(const Options& options, const ReduceReport& report, const std::string& path) {
  if (options.json) {
    put_json({{"model", options.model.path},
              {"reduced", path},
              {"nodes_before", report.nodes_before},
              {"nodes_after", report.nodes_after},
              {"complete", report.complete},
              {"checks", report.checks},
              {"seconds", report.seconds},
              {"operators", names_json(report.operators)},
              {"inputs", names_json(report.inputs)},
              {"outputs", names_json(report.outputs)},
              {"inputs_without_data", names_json(report.without_data)},
              {"frozen_inputs", report.frozen_inputs},
              {"dropped_attributes", report.dropped_attributes},
              {"dropped_inputs", report.dropped_inputs},
              {"dropped_outputs", report.dropped_outputs},
              {"exact", report.exact},
              {"inlined_bodies", report.shrunk.inlined_bodies},
              {"bypassed_nodes", report.shrunk.bypassed_nodes},
              {"shrunk_sizes", report.shrunk.shrunk_sizes},
              {"shrunk_weights", report.shrunk.shrunk_weights},
              {"zeroed_weights", report.shrunk.zeroed_weights}});
    return;
  }
  std::string operators;
  for (size_t i = 0; i < report.operators.size(); ++i)
    operators += i == 8 ? ", ..." : i > 8 ? "" : (i ? ", " : "") + printable(report.operators[i]);
  print("{}: {} of {} nodes ({}), {} inputs, {} outputs\n", path, grouped(report.nodes_after), grouped(report.nodes_before), operators,
        report.inputs.size(), report.outputs.size());
  if (const auto& s = report.shrunk; s.any())
    print("shrunk: {} bodies inlined, {} nodes passed by, {} sizes, {} weights to one element, {} to zeros\n", s.inlined_bodies, s.bypassed_nodes,
          s.shrunk_sizes, s.shrunk_weights, s.zeroed_weights);
  for (const std::string& name : report.without_data) print("no data for input '{}'\n", printable(name));
  print("{} checks in {:.1f} s{}\n", grouped(report.checks), report.seconds,
        report.complete ? "" : "; stopped early: it may become smaller");
}

Result<int> run(const Options& options) {
  if (options.check.empty() == options.against.empty()) return error("reduce: give either --check COMMAND or --against REF");
  const std::string path = options.output + "/reduced.onnx";
  std::error_code ignored;
  for (const std::string& there : {path, options.output + "/test_data_set_0"})
    if (std::filesystem::exists(there, ignored)) return error("{} is there already: name another folder by --output", printable(there));
  validate::ReduceOptions reduction;
  validate::CommandCheck command{.command = options.check};
  if (!options.timeout.empty()) {
    SV_ASSIGN(command.timeout, parse_duration(options.timeout));
  }
  if (!options.max_time.empty()) {
    SV_ASSIGN(reduction.max_seconds, parse_duration(options.max_time));
  }
  SV_ASSIGN(onnx::OnnxFile file, onnx::OnnxFile::open(options.model.path));
  SV_ASSIGN(const Scratch scratch, Scratch::make());
  SV_ASSIGN(const std::string values, scratch.folder("values"));
  SV_ASSIGN(reduction.scratch, scratch.folder("candidate"));
  SV_ASSIGN(const Reference reference, reference_of(options));
  Result<Recording> recording = record(options, reference, file, values);
  if (!recording.ok() && !options.against.empty()) return std::move(recording).error();
  if (!recording.ok())
    print_hint(fmt::format("no data for inputs, and cuts only where the file says types: {}", recording.error().message()));
  const Recording data = recording.ok() ? std::move(recording).value() : Recording();

  const StopSignals signals;
  reduction.stop = command.stop = [&signals] { return signals.received() != nullptr; };
  reduction.write_data = !options.check.empty();
  reduction.freeze = options.freeze;
  SV_ASSIGN(SessionOptions session, options.runtime.resolve());
  reduction.session = reference.session;
  reduction.exact = options.exact || reference.is_model;  // which says nothing of models that compute something else
  const validate::FaultCheck check = fault_of(options, reference, data, session, command);
  Result<ReduceReport> report = [&] {
    ProgressLine line;
    reduction.progress = [&line](const validate::ReduceProgress& p) { line.show(p); };
    return validate::reduce_model(file, data, check, reduction);
  }();
  if (!report.ok()) return std::move(report).error().in(printable(options.model.path));
  SV_TRY(save_reduced(file, *report, options.output));
  show(options, *report, path);
  return kSuccess;
}

void add_fault_options(Command& command, Options& options) {
  constexpr const char* kGroup = "Fault";
  command
      .add_option("--check", options.check,
                  "Command for sh that exits with 0 while the model at {} has the fault\n(without {}, the model is its last argument)")
      ->type_name("COMMAND")
      ->group(kGroup);
  command.add_option("--against", options.against,
                     "The fault: outputs differ from those of a model, a kernel set (reference), or no-optimize")
      ->type_name("REF")
      ->group(kGroup);
  command.add_option("--rtol", options.tolerance.rtol, "Relative tolerance of --against (default: 1e-3)")
      ->check(not_negative())
      ->type_name("R")
      ->group(kGroup);
  command.add_option("--atol", options.tolerance.atol, "Absolute one (default: 1e-5 of each output's largest)")
      ->check(not_negative())
      ->type_name("A")
      ->group(kGroup);
  command.add_option("--timeout", options.timeout, "For one run of the command, as 90 or 2m; beyond it the fault is not there")
      ->type_name("TIME")
      ->group(kGroup);
  command.add_option("--max-time", options.max_time, "For all of it; the smallest model so far is kept")->type_name("TIME")->group(kGroup);
}

}  // namespace reduce_command

Action add_reduce(Command& program) {
  using namespace reduce_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("reduce", "Shrink a model to the nodes that still show a fault");
  add_model(command, options->model);
  add_fault_options(command, *options);
  command.add_option("--output", options->output, "New folder for reduced.onnx and test_data_set_0, its inputs (default: reduced)")
      ->type_name("DIR");
  command.add_flag("--freeze", options->freeze, "Make weights of inputs where the fault stays, so that the model needs fewer data");
  command.add_flag("--exact", options->exact, "Only cut: no attribute, size or weight becomes another, no body is taken apart");
  add_input_options(command, options->inputs);
  add_runtime_options(command, options->runtime);
  add_json(command, options->json);
  command.footer(
      "A check finds test_data_set_0 beside the model. 0 means the fault is there, as in creduce; git bisect run has it\n"
      "the other way round.\n"
      "Examples:\n"
      "  svengine reduce bad.onnx --against good.onnx --output small\n"
      "  svengine reduce model.onnx --check './still_crashes.sh {}' --timeout 30s\n"
      "  svengine reduce model.onnx --against reference --input x=x.npy --rtol 1e-2");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
