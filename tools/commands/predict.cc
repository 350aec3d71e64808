// svengine predict: how long a network would take on a machine that is not here.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/round.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/machine/machine.h"
#include "runtime/segment.h"
#include "tools/commands/commands.h"
#include "tools/predict/predict.h"
#include "tools/support/json.h"
#include "tools/support/network.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace predict_command {

struct Options {
  ModelFile model;
  std::string machine, mode = "both", frequency = "2.0";
  int64_t batch = 0;  // 0: as --dim and --shape say
  int cores = 48;
  size_t top = 5;
  bool json = false, exact_convolution = false;
  InputOptions inputs;
};

/// What the model leaves out; printed with every answer.
constexpr const char* kUnknown[] = {
    "arithmetic, caches and memory are taken to overlap perfectly, and the kernels' shares of the peak come from a "
    "model of the core",
    "cache conflicts, TLB misses, page placement and what one core can draw from memory alone are not modelled",
    "transposing and index-driven moves are taken as straight copies",
    "barrier times are from other programs; the operating system's noise and the power mode (eco_state) are not "
    "considered",
    "the first run, with planning and packing of weights, and reading inputs from files are not part of it",
};

/// One way to use the machine.
struct Mode {
  std::string name;
  Cores cores;              // that run a graph together
  int graphs = 1;           // such runs at the same time
  int64_t graph_batch = 0;  // samples of each
  std::vector<NodeTime> nodes;
  NodeTime sum;
  bool complete = true;  // false: the shapes of the rest depend on data
};

/// Sizes of the inputs, with `batch` for the leading dimension where that is open.
struct Sizes {
  std::vector<Dims> dims;
  std::vector<bool> open;  // the leading dimension is
  int64_t batch = 1;

  std::vector<Dims> with_batch(int64_t n) const {
    std::vector<Dims> out = dims;
    for (size_t i = 0; i < out.size(); ++i)
      if (open[i]) out[i][0] = n;
    return out;
  }
  bool can_change() const { return std::find(open.begin(), open.end(), true) != open.end(); }
};

/// With --batch the leading symbols are 1 for the tensors made here: only their shapes matter.
Result<InputOptions> with_small_batch(const std::vector<Session::Port>& ports, const Options& options) {
  InputOptions out = options.inputs;
  for (const Session::Port& p : ports) {
    if (!options.batch || p.type.shape.rank() < 1 || !p.type.shape[0].is_symbolic()) continue;
    const std::string symbol = p.type.shape[0].symbol() + '=';
    for (const std::string& spec : options.inputs.dims)
      if (spec.starts_with(symbol)) return error("--batch and --dim {}: give one of them", spec);
    out.dims.push_back(symbol + '1');
  }
  return out;
}

Result<Sizes> sizes_of(const Graph& graph, const Options& options) {
  const std::vector<Session::Port> ports = input_ports(graph);
  SV_ASSIGN(const InputOptions small, with_small_batch(ports, options));
  SV_ASSIGN(const Inputs inputs, make_inputs(ports, small, {}));
  for (const std::string& note : inputs.notes) print_hint(note);
  Sizes out;
  for (size_t i = 0; i < ports.size(); ++i) {
    const Shape& shape = ports[i].type.shape;
    out.dims.push_back(inputs.tensors[i].dims());
    out.open.push_back(!out.dims[i].empty() && shape.has_rank() && !shape[0].is_static());
  }
  for (size_t i = out.dims.size(); i-- > 0;)
    if (!out.dims[i].empty() && (out.open[i] || !out.can_change())) out.batch = out.dims[i][0];
  if (options.batch && options.batch != out.batch && !out.can_change())
    return error("--batch {}: the leading dimensions of the inputs are fixed in the file", options.batch);
  if (options.batch) out.batch = options.batch;
  if (out.batch < 1) return error("a batch of {} has nothing to predict", out.batch);
  return out;
}

/// The graph as the plan would have it on that machine: the same passes, with its channel blocks; only constants are
/// computed, by this processor's kernels.
Result<Graph> optimise(const Graph& loaded, const std::vector<Dims>& dims, const PassContext& context, bool& complete) {
  SV_ASSIGN(Graph graph, specialize(loaded, dims, {}, context));
  complete = is_plannable(graph);
  if (!complete) {
    SV_ASSIGN(graph, plannable_prefix(graph));
  }
  SV_TRY(run_pipeline(graph, context, Stage::plan));
  return graph;
}

/// Groups that take part, and cores of each.
Cores cores_of(const Options& options, const MachineModel& machine) {
  Cores out;
  out.groups = std::max(1, options.cores / machine.node.group_cores);
  out.cores = std::min(options.cores, machine.node.group_cores);
  out.hertz = 1e9 * std::stod(options.frequency);
  return out;
}

Result<Mode> predict_mode(const std::string& name, const Graph& loaded, const Sizes& sizes, const Options& options,
                          const MachineModel& machine, const PassContext& context) {
  Mode mode;
  mode.name = name;
  mode.cores = cores_of(options, machine);
  mode.graph_batch = sizes.batch;
  if (name == "shard") {
    const int64_t groups = sizes.can_change() ? mode.cores.groups : 1;
    mode.graph_batch = ceil_div(sizes.batch, groups);
    mode.graphs = static_cast<int>(ceil_div(sizes.batch, mode.graph_batch));
    mode.cores.groups = 1;
  }
  SV_ASSIGN(const Graph graph, optimise(loaded, sizes.with_batch(mode.graph_batch), context, mode.complete));
  mode.nodes = predict(graph, machine, mode.cores, options.exact_convolution);
  mode.sum = sum_of(mode.nodes);
  std::stable_sort(mode.nodes.begin(), mode.nodes.end(),
                   [](const NodeTime& a, const NodeTime& b) { return a.total > b.total; });
  return mode;
}

struct OpTime {
  std::string op;
  int64_t count = 0;
  NodeTime sum;
};

std::vector<OpTime> by_operator(const std::vector<NodeTime>& nodes) {
  std::map<std::string, std::vector<NodeTime>> groups;
  for (const NodeTime& n : nodes) groups[n.op].push_back(n);
  std::vector<OpTime> out;
  for (const auto& [op, members] : groups) out.push_back({op, static_cast<int64_t>(members.size()), sum_of(members)});
  std::stable_sort(out.begin(), out.end(), [](const OpTime& a, const OpTime& b) { return a.sum.total > b.sum.total; });
  return out;
}

/// Of the multiply-add peak of the cores that take part.
double share_of_peak(const Mode& mode, const MachineModel& machine, const NodeTime& time) {
  const double peak = machine.node.flops_per_cycle * mode.cores.hertz * mode.cores.cores * mode.cores.groups;
  return time.total > 0 ? time.flops / time.total / peak : 0;
}

double throughput(const Mode& mode, int64_t batch) {
  return mode.sum.total > 0 ? static_cast<double>(batch) / mode.sum.total : 0;
}

Json time_json(const Mode& mode, const MachineModel& machine, const NodeTime& time) {
  Json alone = Json::object();
  for (size_t r = 0; r < kResourceCount; ++r)
    alone[std::string(name_of(static_cast<Resource>(r)))] = 1e3 * time.seconds[r];
  return {{"ms", 1e3 * time.total},
          {"flops", time.flops},
          {"share_of_peak", share_of_peak(mode, machine, time)},
          {"bound", name_of(time.bound)},
          {"ms_alone", alone}};
}

Json mode_json(const Mode& mode, const MachineModel& machine, int64_t batch) {
  Json out = {{"mode", mode.name},
              {"groups", mode.cores.groups * mode.graphs},
              {"cores_per_group", mode.cores.cores},
              {"batch_per_group", mode.graph_batch},
              {"complete", mode.complete},
              {"throughput_per_s", throughput(mode, batch)}};
  out.update(time_json(mode, machine, mode.sum));
  out["operators"] = Json::array(), out["nodes"] = Json::array();
  for (const OpTime& o : by_operator(mode.nodes)) {
    Json entry = {{"op", o.op}, {"nodes", o.count}};
    entry.update(time_json(mode, machine, o.sum));
    out["operators"].push_back(std::move(entry));
  }
  for (const NodeTime& n : mode.nodes) {
    Json entry = {{"node", n.node}, {"op", n.op}};
    entry.update(time_json(mode, machine, n));
    out["nodes"].push_back(std::move(entry));
  }
  return out;
}

std::string mode_text(const Mode& mode, const MachineModel& machine, int64_t batch, size_t top) {
  const auto cells = [&](std::vector<std::string> names, const NodeTime& t) {
    names.insert(names.end(),
                 {fmt::format("{:.3f}", 1e3 * t.total),
                  fmt::format("{:.1f} %", mode.sum.total > 0 ? 100 * t.total / mode.sum.total : 0),
                  fmt::format("{:.0f} %", 100 * share_of_peak(mode, machine, t)), std::string(name_of(t.bound))});
    return names;
  };
  constexpr auto kLeft = Table::Align::left, kRight = Table::Align::right;
  Table ops({"operator", "nodes", "ms", "time", "of peak", "bound by"}, {kLeft, kRight, kRight, kRight, kRight, kLeft});
  Table nodes({"costliest nodes", "operator", "ms", "time", "of peak", "bound by"},
              {kLeft, kLeft, kRight, kRight, kRight, kLeft});
  for (const OpTime& o : by_operator(mode.nodes)) ops.row(cells({o.op, std::to_string(o.count)}, o.sum));
  ops.row(cells({"all", std::to_string(mode.nodes.size())}, mode.sum));
  for (size_t i = 0; i < std::min(top, mode.nodes.size()); ++i)
    nodes.row(cells({mode.nodes[i].node, mode.nodes[i].op}, mode.nodes[i]));
  const std::string how =
      mode.name == "shard"
          ? fmt::format("{} x {} cores, batch {} each", mode.graphs, mode.cores.cores, mode.graph_batch)
          : fmt::format("{} cores together, batch {}", mode.cores.groups * mode.cores.cores, batch);
  return fmt::format("{}: {}: {:.3f} ms, {:.1f} /s, bound by {}{}\n{}\n{}", mode.name, how, 1e3 * mode.sum.total,
                     throughput(mode, batch), name_of(mode.sum.bound),
                     mode.complete ? "" : " (only the part before shapes depend on data)", ops.text("  "),
                     nodes.text("  "));
}

Result<const MachineModel*> check(const Options& options) {
  const MachineModel* machine = find_machine(options.machine);
  if (!machine) return error("--machine {}: there is no such machine; there is a64fx", options.machine);
  const int group = machine->node.group_cores;
  if (options.cores > group && (options.cores % group != 0 || options.cores / group > machine->node.groups))
    return error("--cores {}: {} has groups of {}; give 1 to {}, or up to {} whole groups", options.cores,
                 machine->name, group, group, machine->node.groups);
  return machine;
}

Result<int> run(const Options& options) {
  SV_ASSIGN(const MachineModel* machine, check(options));
  if (kernels::available_kernel_sets().empty())
    return error("this processor runs none of the kernel sets built into this program");
  PassContext context = pass_context(*kernels::available_kernel_sets().front());
  context.block = machine->tiles.lanes;
  SV_ASSIGN(Model model, load_model(options.model, names_of_files(options.inputs)));
  SV_ASSIGN(const Sizes sizes, sizes_of(model.graph, options));
  SV_TRY(run_pipeline(model.graph, context, Stage::load));
  std::vector<Mode> modes;
  for (const char* name : {"shard", "split"}) {
    if (options.mode != "both" && options.mode != name) continue;
    Result<Mode> mode = predict_mode(name, model.graph, sizes, options, *machine, context);
    if (!mode.ok()) return std::move(mode).error().in(options.model.path);
    modes.push_back(std::move(mode).value());
  }
  if (options.json) {
    Json out = {{"model", options.model.path},
                {"machine", machine->name},
                {"frequency_ghz", std::stod(options.frequency)},
                {"cores", options.cores},
                {"batch", sizes.batch}};
    out["modes"] = Json::array();
    for (const Mode& m : modes) out["modes"].push_back(mode_json(m, *machine, sizes.batch));
    out["unknown"] = std::vector<std::string>(std::begin(kUnknown), std::end(kUnknown));
    put_json(out);
    return kSuccess;
  }
  print("{} on {} at {} GHz, batch {}: estimated, not measured\n\n", options.model.path, machine->name, options.frequency,
        sizes.batch);
  for (const Mode& m : modes) print("{}\n", mode_text(m, *machine, sizes.batch, options.top));
  put("What this does not know:\n");
  for (const char* line : kUnknown) print("  - {}\n", line);
  return kSuccess;
}

}  // namespace predict_command

Action add_predict(Command& program) {
  using namespace predict_command;
  auto options = std::make_shared<Options>();
  Command& command =
      *program.add_subcommand("predict", "Estimate the time on a machine that is not here, such as A64FX");
  add_model(command, options->model);
  command.add_option("--machine", options->machine, "The machine: a64fx")->required()->type_name("NAME");
  command
      .add_option("--batch", options->batch,
                  "Samples: the leading dimension of the inputs, where the file leaves it open")
      ->check(within(int64_t{1}, int64_t{1} << 30))
      ->type_name("N");
  command.add_option("--cores", options->cores, "Cores: 1 to 12, 24, 36 or 48 (default: 48)")
      ->check(within(1, 1 << 16))
      ->type_name("N");
  command
      .add_option(
          "--mode", options->mode,
          "shard, split or both (default: both)\nshard: every core group runs a part of the batch; split: all cores run one node at a time")
      ->check(one_of({"shard", "split", "both"}))
      ->type_name("MODE");
  command.add_option("--frequency", options->frequency, "In GHz: 2.0 or 2.2 (default: 2.0)")
      ->check(one_of({"2.0", "2.2"}))
      ->type_name("GHZ");
  command.add_option("--top", options->top, "How many of the costliest nodes to show (default: 5)")
      ->check(within(1, 1 << 20))
      ->type_name("N");
  add_exact_convolution(command, options->exact_convolution);
  add_input_options(command, options->inputs);
  add_json(command, options->json);
  command.footer(
      "The model is described in tools/predict/predict.h, its figures and their sources in tools/predict/machine.cc.\n"
      "Examples:\n  svengine predict resnet50.onnx --machine a64fx --batch 512\n"
      "  svengine predict bert.onnx --machine a64fx --batch 8 --dim S=128 --mode split --frequency 2.2 --json");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
