// svengine run: runs a network once on given or random inputs and shows or writes its outputs.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "importers/io/names.h"
#include "importers/npy/npy.h"
#include "importers/onnx/tensor_file.h"
#include "tools/commands/commands.h"
#include "tools/support/json.h"
#include "tools/support/labels.h"
#include "tools/support/network.h"
#include "tools/support/output.h"
#include "tools/support/tensor_files.h"
#include "validate/compare/element.h"
#include "validate/finite/find_not_finite.h"

namespace svengine::tool {
namespace run_command {

struct Options {
  ModelFile model;
  InputOptions inputs;
  RuntimeOptions runtime;
  std::string output_dir;
  std::string labels;
  size_t top = 0;
  bool validate = false, json = false;
};

constexpr int64_t kMostShown = 8;  // elements of an output, and rows of --top

struct Output {
  std::string name;
  Tensor tensor;
  validate::Statistics statistics;
  std::string file;                            // empty: not written
  std::vector<std::vector<Candidate>> ranked;  // --top: one list for each row
};

/// Scores are the last dimension that is not 1; what is before it are rows.
std::vector<std::vector<Candidate>> rank(const Tensor& tensor, size_t top) {
  std::vector<std::vector<Candidate>> out;
  if (tensor.dims().empty() || tensor.count() == 0) return out;
  const auto last = std::find_if(tensor.dims().rbegin(), tensor.dims().rend(), [](int64_t d) { return d > 1; });
  const int64_t size = last == tensor.dims().rend() ? 1 : *last;
  for (int64_t begin = 0; begin < tensor.count() && begin / size < kMostShown; begin += size)
    out.push_back(best_of(tensor, begin, size, top));
  return out;
}

Status write_outputs(const std::string& folder, std::vector<Output>& outputs) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return error("--output-dir {}: {}", folder, problem.message());
  std::set<std::string> taken;
  for (Output& o : outputs) {
    const std::string stem = file_name_for(o.name);
    std::string name = stem;
    for (int n = 1; !taken.insert(name).second; ++n) name = fmt::format("{}_{}", stem, n);
    const bool is_array = !is_handle(o.tensor.type());
    o.file = (std::filesystem::path(folder) / (name + (is_array ? ".npy" : ".pb"))).string();
    Status saved = is_array ? save_npy(o.tensor, o.file) : save_value_proto(o.tensor, o.name, o.file);
    if (!saved.ok()) return std::move(saved).error().in(fmt::format("output '{}'", o.name));
  }
  return {};
}

std::string first_elements(const Tensor& tensor) {
  std::string out;
  const int64_t shown = std::min(tensor.count(), kMostShown);
  for (int64_t i = 0; i < shown; ++i) out += (i ? ", " : "") + validate::element_text(tensor, i);
  return out + (tensor.count() > shown ? ", ..." : "");
}

std::string to_text(const std::vector<Output>& outputs, const std::vector<std::string>& labels) {
  std::string out;
  for (const Output& o : outputs) {
    const validate::Statistics& s = o.statistics;
    out += fmt::format("{}: {}\n", o.name, validate::type_text(o.tensor));
    Table table;
    table.row({"values", o.tensor.count() ? first_elements(o.tensor) : "none: the output is empty"});
    if (s.finite) table.row({"range", fmt::format("{:.6g} to {:.6g}, mean {:.6g}", s.min, s.max, s.mean)});
    if (s.nans || s.infinities) table.row({"not finite", fmt::format("{} NaN, {} infinite", s.nans, s.infinities)});
    if (!o.file.empty()) table.row({"written to", o.file});
    out += table.text("  ");
    for (size_t r = 0; r < o.ranked.size(); ++r) {
      if (o.ranked.size() > 1) out += fmt::format("  row {}\n", r);
      Table best({}, {Table::Align::right, Table::Align::right, Table::Align::left});
      for (const Candidate& c : o.ranked[r])
        best.row(
            {fmt::format("{:.1f} %", 100 * c.probability), fmt::format("{:.6g}", c.score), printable(label_of(labels, c.index))});
      out += best.text("    ");
    }
  }
  return out;
}

Json to_json(const Options& options, const Inputs& inputs, double ms, const std::vector<Output>& outputs,
             const std::vector<std::string>& labels) {
  Json list = Json::array();
  for (const Output& o : outputs) {
    const validate::Statistics& s = o.statistics;
    const auto of_finite = [&](double value) { return s.finite ? Json(value) : Json(nullptr); };
    Json row = {{"name", o.name},          {"type", name_of(o.tensor.type())}, {"shape", o.tensor.dims()},
                {"min", of_finite(s.min)}, {"max", of_finite(s.max)},          {"mean", of_finite(s.mean)},
                {"nan", s.nans},           {"infinite", s.infinities}};
    if (!o.file.empty()) row["file"] = o.file;
    for (const auto& candidates : o.ranked) {
      Json ranked = Json::array();
      for (const Candidate& c : candidates)
        ranked.push_back(
            {{"index", c.index}, {"label", label_of(labels, c.index)}, {"score", c.score}, {"probability", c.probability}});
      row["top"].push_back(std::move(ranked));
    }
    list.push_back(std::move(row));
  }
  return {{"model", options.model.path}, {"seed", inputs.seed}, {"random_inputs", inputs.random},
          {"notes", inputs.notes},       {"run_ms", ms},        {"outputs", list}};
}

std::string range_text(const validate::CheckedValue& v) {
  const validate::Statistics& s = v.statistics;
  const std::string range = s.finite ? fmt::format("{:.6g} to {:.6g}", s.min, s.max) : "no finite element";
  return fmt::format("{}{} {}: {}{}", v.constant ? "constant " : "", v.name, v.type, range,
                     v.finite() ? "" : fmt::format(", {} NaN, {} infinite", s.nans, s.infinities));
}

std::string finite_text(const validate::FiniteReport& report) {
  if (report.passed()) return fmt::format("all {} values of real numbers are finite\n", report.checked);
  std::string out;
  for (const validate::CheckedValue& v : report.inputs) out += fmt::format("not finite: input {}\n", range_text(v));
  if (report.first.empty()) return out;
  const validate::NotFinite& first = report.first.front();
  out += fmt::format("not finite: {} of {} values, first that of node '{}' ({}){}\n", report.not_finite, report.checked,
                     first.node, first.op, first.from_finite ? ", whose inputs are finite" : "");
  Table table;
  table.row({"makes", range_text(first.value)});
  for (const validate::CheckedValue& v : first.inputs) table.row({"reads", range_text(v)});
  for (size_t i = 1; i < report.first.size(); ++i)
    table.row(
        {"then", fmt::format("node '{}' ({}) {}", report.first[i].node, report.first[i].op, range_text(report.first[i].value))});
  if (report.not_finite > report.first.size())
    table.row({"then", fmt::format("{} more", report.not_finite - report.first.size())});
  return out + table.text("  ");
}

Json checked_json(const validate::CheckedValue& v) {
  const validate::Statistics& s = v.statistics;
  return {{"name", v.name},
          {"type", v.type},
          {"constant", v.constant},
          {"min", s.finite ? Json(s.min) : Json(nullptr)},
          {"max", s.finite ? Json(s.max) : Json(nullptr)},
          {"nan", s.nans},
          {"infinite", s.infinities}};
}

Json finite_json(const validate::FiniteReport& report) {
  Json inputs = Json::array(), first = Json::array();
  for (const validate::CheckedValue& v : report.inputs) inputs.push_back(checked_json(v));
  for (const validate::NotFinite& f : report.first) {
    Json reads = Json::array();
    for (const validate::CheckedValue& v : f.inputs) reads.push_back(checked_json(v));
    first.push_back(
        {{"node", f.node}, {"op", f.op}, {"from_finite", f.from_finite}, {"value", checked_json(f.value)}, {"inputs", reads}});
  }
  return {{"passed", report.passed()},
          {"checked", report.checked},
          {"not_finite", report.not_finite},
          {"inputs", inputs},
          {"first", first}};
}

/// Every value of the file's nodes.
Result<validate::FiniteReport> check_values(const Options& options, const std::vector<Tensor>& inputs) {
  SV_ASSIGN(const SessionOptions how, options.runtime.resolve());
  SV_ASSIGN(Model model, read_model(options.model, names_of_files(options.inputs)));
  Result<validate::FiniteReport> report = validate::find_not_finite(std::move(model.graph), inputs, how);
  if (!report.ok()) return std::move(report).error().in(printable(options.model.path));
  return report;
}

Result<int> run(const Options& options) {
  std::vector<std::string> labels;
  if (!options.labels.empty()) {
    SV_ASSIGN(labels, load_labels(options.labels));
  }
  SV_ASSIGN(Network network, load_network(options.model, options.runtime, names_of_files(options.inputs)));
  SV_ASSIGN(const Inputs inputs, make_inputs(network.inputs, options.inputs, network.bounds));
  if (!options.json) print_notes(inputs);
  SV_TRY(make_ready(network, inputs.tensors));
  const Stopwatch watch;
  SV_ASSIGN(const std::vector<Tensor> tensors, run_network(network, inputs.tensors));
  const double ms = watch.milliseconds();
  std::vector<Output> outputs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const size_t top = options.top ? options.top : labels.empty() ? 0 : 5;
    outputs.push_back({network.session->outputs()[i].name, tensors[i], validate::statistics_of(tensors[i]), {}, {}});
    if (top) outputs.back().ranked = rank(tensors[i], top);
  }
  if (!options.output_dir.empty()) SV_TRY(write_outputs(options.output_dir, outputs));
  std::optional<validate::FiniteReport> finite;
  if (options.validate) {
    SV_ASSIGN(finite, check_values(options, inputs.tensors));
  }
  if (options.json) {
    Json json = to_json(options, inputs, ms, outputs, labels);
    if (finite) json["validation"] = finite_json(*finite);
    put_json(json);
  } else {
    put(to_text(outputs, labels));
    if (finite) put(finite_text(*finite));
  }
  return finite && !finite->passed() ? kFailed : kSuccess;
}

}  // namespace run_command

Action add_run(Command& program) {
  using namespace run_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("run", "Run a network once");
  add_model(command, options->model);
  add_input_options(command, options->inputs,
                    "\nand, where it is given, of nodes that draw numbers and have no seed of their own: random each time without");
  command
      .add_option("--resize", options->inputs.resize,
                  "Resize images: 256 for the shorter side, or WIDTHxHEIGHT\nthen the network's size is cut from the centre "
                  "(default: resize to the network's size)")
      ->type_name("SIZE")
      ->group("Images");
  add_pixel_options(command, options->inputs.image);
  command.add_flag("--image-bgr", options->inputs.image.bgr, "Channels in the order blue, green, red")->group("Images")
      ->rare();
  command.add_option("--output-dir", options->output_dir, "Write every output there as NAME.npy; strings, sequences, ... as NAME.pb")
      ->type_name("DIR");
  command
      .add_option("--top", options->top,
                  "Show the highest elements of each row, as probabilities\nalong the last dimension that is not 1; softmax of them unless they "
                  "are probabilities already")
      ->check(within(1, 1 << 20))
      ->type_name("K");
  command.add_option("--labels", options->labels, "Names of the classes, one a line")->type_name("FILE");
  command.add_flag(
      "--validate", options->validate,
      "Name the first node that makes NaN or infinity: exit code 1\n(runs the network again, node by node, and checks every "
      "value)");
  add_runtime_options(command, options->runtime);
  add_json(command, options->json);
  command.footer(
      "Examples:\n  svengine run model.onnx --input x.npy --output-dir out\n"
      "  svengine run resnet50.onnx --input input=dog.jpg --resize 256 --image-mean 0.485,0.456,0.406 \\\n"
      "      --image-std 0.229,0.224,0.225 --top 5 --labels imagenet.txt\n"
      "  svengine run bert.onnx --dim S=128 --seed 7");
  return [options] {
    options->runtime.seed = options->inputs.seed;
    return run(*options);
  };
}

}  // namespace svengine::tool
