// svengine compare: where a model first computes something else than a reference does.
#include <malloc.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/file.h"
#include "importers/io/names.h"
#include "tools/commands/commands.h"
#include "tools/support/compare_report.h"
#include "tools/support/test_data_set.h"
#include "tools/support/network.h"
#include "tools/support/output.h"
#include "validate/compare/compare_models.h"
#include "validate/compare/open_reference.h"
#include "validate/compare/page.h"
#include "validate/compare/recorded.h"

namespace svengine::tool {
namespace compare_command {

struct Options {
  ModelFile model;
  std::string against = "reference";
  std::string data_set;
  InputOptions inputs;
  RuntimeOptions runtime;
  std::optional<double> rtol, atol;
  std::string record, html;
  int64_t record_limit = int64_t{1} << 30;
  size_t top = 10;
  bool all = false, whole = false, json = false;
};

/// Of a data set, of the record where that has all, or as `svengine run` makes them.
Result<Inputs> inputs_for(const Options& options, const Graph& graph) {
  const std::vector<Session::Port> ports = input_ports(graph);
  if (!options.data_set.empty()) {
    SV_ASSIGN(const std::vector<std::string> sets, find_test_data_sets(options.data_set));
    Inputs out;
    SV_ASSIGN(out.tensors, load_set_inputs(sets.front(), ports));
    return out;
  }
  if (options.inputs.files.empty() && validate::is_recorded(options.against)) {
    SV_ASSIGN(const std::unique_ptr<validate::Recorded> record, validate::Recorded::open(options.against, graph));
    Inputs out;
    for (const Session::Port& port : ports) {
      if (!record->has(port.name)) return make_inputs(ports, options.inputs, find_index_bounds(graph));
      SV_ASSIGN(Tensor tensor, record->value(port.name));
      out.tensors.push_back(std::move(tensor));
    }
    return out;
  }
  return make_inputs(ports, options.inputs, find_index_bounds(graph));
}

/// Where the reference's values go.
struct Record {
  std::unique_ptr<validate::Recorder> recorder;  // null: nowhere
  validate::Witness witness;
};

Result<Record> open_record(const Options& options, const Graph& model, const std::vector<Tensor>& inputs,
                           const SessionOptions& how) {
  Record out;
  if (options.record.empty()) return out;
  if (validate::is_recorded(options.against))
    return error("--record writes what a reference computes; '{}' has been recorded", printable(options.against));
  SV_ASSIGN(out.recorder, validate::Recorder::create(options.record, options.record_limit));
  for (size_t i = 0; i < inputs.size(); ++i) SV_TRY(out.recorder->add(model.inputs()[i]->name(), inputs[i], how));
  out.witness = [recorder = out.recorder.get(), how](const Node& node, const auto&, const std::vector<Tensor>& values) -> Status {
    for (size_t i = 0; i < values.size(); ++i) SV_TRY(recorder->add(node.output(i)->name(), values[i], how));
    return {};
  };
  return out;
}

Status write_page(const std::string& path, const std::string& text) {
  SV_ASSIGN(AtomicFile file, AtomicFile::create(path));
  SV_TRY(file.write(text));
  return file.finish();
}

Status finish_record(const Options& options, Record& record, validate::Reference& reference) {
  if (!record.recorder) return {};
  const validate::Recorder& r = *record.recorder;
  SV_TRY(reference.finish());
  SV_TRY(record.recorder->finish());
  print_hint(fmt::format("{} values, {}, written to {}", r.written(), bytes_text(static_cast<double>(r.bytes())),
                         printable(options.record)));
  if (r.left_out())
    print_hint(fmt::format("{} values left out: integers of 4 and 2 bits, and what --record-limit {} does not hold", r.left_out(),
                           options.record_limit));
  return {};
}

/// Every step packs its weights into memory that the step before has given back: the system need not clear it each time.
/// BERT-base with 128 tokens, one core of a Xeon: 1.28 s of CPU without, 1.20 s with it.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

Result<int> run(const Options& options) {
  keep_freed_memory();
  SV_ASSIGN(SessionOptions how, options.runtime.resolve());
  SV_TRY(choose_kernels(how));
  SV_ASSIGN(const Model model, load_model(options.model, names_of_files(options.inputs)));
  SV_ASSIGN(const Inputs inputs, inputs_for(options, model.graph));
  if (inputs.tensors.size() != model.graph.inputs().size())
    return error("{}: has {} inputs, {} are given", printable(options.model.path), model.graph.inputs().size(),
                 inputs.tensors.size());
  if (!options.json) print_notes(inputs);
  SV_ASSIGN(Record record, open_record(options, model.graph, inputs.tensors, how));
  SV_ASSIGN(const validate::OpenedReference other,
            validate::open_reference(options.against, model.graph, inputs.tensors, how, record.witness, options.model.strict));
  for (const std::string& warning : other.warnings) print_hint(warning);
  const Stopwatch watch;
  Result<validate::CompareReport> report =
      validate::compare_with(model.graph, inputs.tensors, *other.reference, {how, options.rtol, options.atol, options.whole});
  if (!report.ok()) return std::move(report).error().in(printable(options.model.path));
  SV_TRY(finish_record(options, record, *other.reference));
  const ComparedSides sides{printable(options.model.path),
                            std::string(how.kernels->name),
                            how.optimize,
                            other.description,
                            other.match.get(),
                            inputs.seed,
                            watch.milliseconds()};
  if (!options.html.empty()) SV_TRY(write_page(options.html, validate::page_of(*report, title_of(sides))));
  if (options.json)
    put_json(compare_json(*report, sides));
  else
    put(compare_text(*report, sides, options.all ? SIZE_MAX : options.top));
  return report->passed() ? kSuccess : kFailed;
}

void add_report_options(Command& command, const std::shared_ptr<Options>& options) {
  command.add_option("--rtol", options->rtol, "Bound of errors beside the expected value, in place of what precision explains")
      ->check(not_negative())
      ->type_name("R");
  command.add_option("--atol", options->atol, "Absolute bound of errors, likewise")->check(not_negative())->type_name("A");
  command.add_option("--top", options->top, "Lines of the table: the values with the largest local errors (default: 10)")
      ->check(within(1, 1 << 20))
      ->type_name("K");
  command.add_flag("--all", options->all, "Every value, in the order of the run");
  command.add_option("--record", options->record, "Write the reference's values there, for --against DIR elsewhere")
      ->type_name("DIR");
  command.add_option("--record-limit", options->record_limit, "Bytes that may be written (default: 2^30)")
      ->check(within(int64_t{0}, int64_t{1} << 50))
      ->type_name("BYTES")
      ->rare();
  command.add_flag("--whole", options->whole,
                   "Run the network as a whole, too, as `svengine run` does, and compare its outputs: layouts and memory are planned for all nodes");
  command.add_option("--html", options->html, "Write a page to look at, of all values")->type_name("FILE");
}

/// Those of the machine that mean something to single nodes.
void add_node_options(Command& command, RuntimeOptions& runtime) {
  constexpr const char* kGroup = "Machine";
  add_machine_options(command, runtime);
  command
      .add_flag("--exact-convolution", runtime.exact_convolution,
                "Test without Winograd convolutions, which round less precisely")
      ->group(kGroup);
  command.add_flag("--no-optimize", runtime.no_optimize, "Test every node by itself, as it stands in the file, nothing fused")
      ->group(kGroup)
      ->rare();
}

}  // namespace compare_command

Action add_compare(Command& program) {
  using namespace compare_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("compare", "Find the node where a model goes wrong beside a reference");
  add_model(command, options->model);
  command
      .add_option(
          "--against", options->against,
          "A model, a kernel set (reference, avx2, ...), no-optimize, or recorded values (default: reference)\na kernel set and "
          "no-optimize are the same model node by node; recorded values a folder or an .npz")
      ->type_name("REF");
  add_report_options(command, options);
  add_input_options(command, options->inputs);
  command.add_option("--data-set", options->data_set, "Inputs of a test_data_set folder")->type_name("DIR")->group("Inputs");
  add_node_options(command, options->runtime);
  add_json(command, options->json);
  command.footer(
      "Exit code 1: a node's error on the reference's inputs is more than precision explains, or an output is wrong.\n"
      "Examples:\n  svengine compare model.onnx\n  svengine compare float16.onnx --against float32.onnx --html report.html");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
