// svengine inspect: what a model file holds and what running it takes, without running it; and any stage on the way there.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/text.h"
#include "importers/onnx/import.h"
#include "runtime/segment.h"
#include "tools/commands/commands.h"
#include "tools/support/json.h"
#include "tools/support/network.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace inspect_command {

struct Options {
  ModelFile model;
  std::string after;
  bool plan = false, passes = false, json = false;
  int64_t most_elements = TextOptions().most_elements;
  InputOptions inputs;
  RuntimeOptions runtime;
};

struct OpCount {
  int64_t nodes = 0, in_bodies = 0;
  Cost cost;  // of nodes with bodies: with what is in them
};

struct Report {
  int64_t parameters = 0;          // see is_parameter(); those in bodies, too
  double constant_bytes = 0;       // all constants, likewise
  std::map<std::string, OpCount> ops;
  Cost cost;
  std::vector<Tensor> inputs;      // what the figures were worked out for
  std::string plan_problem;        // empty: planned
  int64_t arena_bytes = 0, weight_bytes = 0, scratch_bytes = 0, steps = 0;
  bool complete = true;            // false: later parts of the plan wait for data

  int64_t peak_bytes() const { return arena_bytes + weight_bytes + scratch_bytes; }
};

std::string op_name(const OpDef& op) { return *op.domain ? fmt::format("{}.{}", op.domain, op.name) : op.name; }

std::vector<Dims> dims_of(const std::vector<Tensor>& tensors) {
  std::vector<Dims> out;
  for (const Tensor& t : tensors) out.push_back(t.dims());
  return out;
}

const kernels::KernelTable* chosen_kernels(const SessionOptions& options) {
  if (options.kernels || kernels::available_kernel_sets().empty()) return options.kernels;
  return kernels::available_kernel_sets().front();
}

void count_nodes(const Graph& graph, int64_t OpCount::* which, Report& report) {
  graph.for_each_value([&](Value& v) {
    if (!v.is_constant()) return;
    if (is_parameter(v)) report.parameters += v.constant().count();
    report.constant_bytes += static_cast<double>(v.constant().byte_size());
  });
  for (const auto& node : graph.nodes()) {
    ++(report.ops[op_name(node->op())].*which);
    for (const auto& [name, value] : node->attributes)
      if (const Subgraph* body = std::get_if<Subgraph>(&value)) count_nodes(**body, &OpCount::in_bodies, report);
  }
}

/// Counts on the graph as imported; costs for the given shapes.
Status count(const Graph& graph, const PassContext& context, Report& report) {
  count_nodes(graph, &OpCount::nodes, report);
  SV_ASSIGN(const Graph shaped, specialize(graph, dims_of(report.inputs), {}, context));
  for (const auto& node : shaped.nodes()) {
    const Cost cost = cost_of(*node);
    Cost& sum = report.ops[op_name(node->op())].cost;
    sum.flops += cost.flops, sum.bytes += cost.bytes;
    report.cost.flops += cost.flops, report.cost.bytes += cost.bytes;
  }
  report.complete = is_plannable(shaped);
  return {};
}

Status plan(Session& session, Report& report) {
  SV_TRY(session.prepare(report.inputs));
  for (const auto& plan : session.plans()) {
    report.arena_bytes += plan->arena_bytes;
    report.weight_bytes += plan->constant_bytes;
    report.scratch_bytes += plan->scratch_bytes * session.team().threads();
    report.steps += static_cast<int64_t>(plan->steps.size());
  }
  return {};
}

bool runs_in(const Pass& pass, Stage stage) { return pass.stage == stage || pass.stage == Stage::both; }

/// Where --after stops.
struct Stop {
  bool import = false;  // before any pass
  Stage stage = Stage::load;
  std::string pass;
};

/// import, NAME, load:NAME or plan:NAME. Without a stage, the first in which the pass runs.
Result<Stop> parse_stop(const std::string& text) {
  if (text == "import") return Stop{true, Stage::load, {}};
  const bool load = text.starts_with("load:"), plan = text.starts_with("plan:");
  const std::string name = load || plan ? text.substr(5) : text;
  std::string known;
  for (const Pass& pass : pipeline()) {
    if (name == pass.name && !plan && runs_in(pass, Stage::load)) return Stop{false, Stage::load, name};
    if (name == pass.name && !load && runs_in(pass, Stage::plan)) return Stop{false, Stage::plan, name};
    known += fmt::format(", {}", pass.name);
  }
  return error("--after {}: there is no such pass; there are import{} (see --passes)", text, known);
}

Result<Graph> graph_at(Graph graph, const Stop& stop, const PassContext& context, const std::vector<Tensor>& inputs) {
  if (stop.import) return graph;
  const bool at_load = stop.stage == Stage::load;
  SV_TRY(run_pipeline(graph, context, Stage::load, at_load ? stop.pass : std::string()));
  if (at_load) return graph;
  SV_ASSIGN(Graph shaped, specialize(graph, dims_of(inputs), {}, context));
  if (!is_plannable(shaped)) {
    print_hint("shapes depend on data, or nodes work on the host: this is the part of the network before that");
    SV_ASSIGN(shaped, plannable_prefix(shaped));
  }
  SV_TRY(run_pipeline(shaped, context, Stage::plan, stop.pass));
  return shaped;
}

std::string opsets_text(const Model& model) {
  std::string out;
  for (const OpsetImport& o : model.opsets)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", o.domain.empty() ? "ai.onnx" : o.domain, o.version);
  return out;
}

/// A column for nodes in bodies only where there are any.
Table operator_table(const Report& r) {
  constexpr auto kRight = Table::Align::right;
  OpCount all{.cost = r.cost};
  for (const auto& [name, count] : r.ops) all.nodes += count.nodes, all.in_bodies += count.in_bodies;
  std::vector<std::string> head{"operator", "nodes", "FLOPs", "bytes"};
  if (all.in_bodies) head.insert(head.begin() + 2, "in bodies");
  Table table(head, {Table::Align::left, kRight, kRight, kRight, kRight});
  const auto add = [&](const std::string& name, const OpCount& count) {
    std::vector<std::string> row{name, std::to_string(count.nodes), scaled(count.cost.flops), bytes_text(count.cost.bytes)};
    if (all.in_bodies) row.insert(row.begin() + 2, std::to_string(count.in_bodies));
    table.row(row);
  };
  for (const auto& [name, count] : r.ops) add(name, count);
  add("all", all);
  return table;
}

std::string report_text(const Model& model, const Network& network, const Report& r) {
  constexpr auto kRight = Table::Align::right;
  Table head, memory({}, {Table::Align::left, kRight});
  head.row({"model", model.path});
  head.row({"format", fmt::format("ONNX IR {}, opset {}", model.ir_version, opsets_text(model))});
  head.row({"producer", fmt::format("{} {}", model.producer_name.empty() ? "unknown" : model.producer_name,
                                    model.producer_version)});
  for (size_t i = 0; i < network.inputs.size(); ++i)
    head.row({"input", network.inputs[i].name, to_string(network.inputs[i].type), "here " + to_string(r.inputs[i].dims())});
  for (const Session::Port& p : network.session->outputs()) head.row({"output", p.name, to_string(p.type)});
  const Table ops = operator_table(r);
  memory.row({"parameters", grouped(r.parameters)});
  memory.row({"constants in the file", bytes_text(r.constant_bytes)});
  if (r.plan_problem.empty()) {
    memory.row({"planned arena", bytes_text(static_cast<double>(r.arena_bytes))});
    memory.row({"planned weights", bytes_text(static_cast<double>(r.weight_bytes))});
    memory.row({"planned scratch", bytes_text(static_cast<double>(r.scratch_bytes))});
    memory.row({r.complete ? "planned peak" : "planned peak, at least", bytes_text(static_cast<double>(r.peak_bytes()))});
  }
  return fmt::format("{}\n{}\n{}", head.text(), ops.text(), memory.text());
}

Json ports_json(const std::vector<Session::Port>& ports, const std::vector<Tensor>* chosen) {
  Json out = Json::array();
  for (size_t i = 0; i < ports.size(); ++i) {
    Json dims = nullptr;
    if (ports[i].type.shape.has_rank()) {
      dims = Json::array();
      for (const Dim& d : ports[i].type.shape.dims())
        dims.push_back(d.is_static() ? Json(d.value()) : d.is_symbolic() ? Json(d.symbol()) : Json(nullptr));
    }
    out.push_back({{"name", ports[i].name}, {"type", name_of(ports[i].type.dtype)}, {"shape", dims}});
    if (chosen) out.back()["chosen_shape"] = (*chosen)[i].dims();
  }
  return out;
}

Json report_json(const Model& model, const Network& network, const Report& r) {
  Json opsets = Json::object(), ops = Json::object();
  for (const OpsetImport& o : model.opsets) opsets[o.domain.empty() ? "ai.onnx" : o.domain] = o.version;
  for (const auto& [name, count] : r.ops)
    ops[name] = {{"nodes", count.nodes}, {"in_bodies", count.in_bodies}, {"flops", count.cost.flops}, {"bytes", count.cost.bytes}};
  Json out = {{"model", model.path},
              {"ir_version", model.ir_version},
              {"opsets", opsets},
              {"producer", model.producer_name},
              {"producer_version", model.producer_version},
              {"inputs", ports_json(network.inputs, &r.inputs)},
              {"outputs", ports_json(network.session->outputs(), nullptr)},
              {"operators", ops},
              {"parameters", r.parameters},
              {"constant_bytes", r.constant_bytes},
              {"flops", r.cost.flops},
              {"bytes", r.cost.bytes}};
  if (!r.plan_problem.empty()) {
    out["plan_problem"] = r.plan_problem;
    return out;
  }
  out["plan"] = {{"kernels", network.session->kernels().name}, {"steps", r.steps},
                 {"arena_bytes", r.arena_bytes},               {"weight_bytes", r.weight_bytes},
                 {"scratch_bytes", r.scratch_bytes},           {"peak_bytes", r.peak_bytes()},
                 {"complete", r.complete}};
  return out;
}

/// What a refused model holds, what is lacking marked.
std::string survey_text(const FileSurvey& survey) {
  Table head, ops({"operator", "nodes", ""}, {Table::Align::left, Table::Align::right});
  head.row({"model", survey.model.path});
  head.row({"format", fmt::format("ONNX IR {}, opset {}", survey.model.ir_version, opsets_text(survey.model))});
  head.row({"producer", fmt::format("{} {}", survey.model.producer_name.empty() ? "unknown" : survey.model.producer_name,
                                    survey.model.producer_version)});
  for (const auto& [name, type] : survey.inputs) head.row({"input", name, type});
  for (const auto& [name, type] : survey.outputs) head.row({"output", name, type});
  head.row({"initializers", grouped(survey.initializers)});
  for (const OperatorUse& use : survey.operators) {
    const std::string domain = use.domain == "ai.onnx" ? "" : use.domain + ".";
    ops.row({domain + use.name, std::to_string(use.nodes), use.problem.empty() ? "" : "lacking: " + use.problem});
  }
  return fmt::format("{}\n{}", head.text(), ops.text());
}

Json survey_json(const FileSurvey& survey, const std::string& refused) {
  Json ops = Json::array(), lacking = Json::array();
  for (const OperatorUse& use : survey.operators) {
    ops.push_back({{"domain", use.domain}, {"operator", use.name}, {"nodes", use.nodes}});
    if (!use.problem.empty()) lacking.push_back(use.problem);
  }
  return {{"model", survey.model.path}, {"ir_version", survey.model.ir_version}, {"operators", std::move(ops)},
          {"lacking", std::move(lacking)}, {"refused", refused}};
}

/// Shows what a model holds that is not taken for want of operators, and gives the reason on. What else may be wrong with a file is best
/// said alone.
Error show_refused(const Options& options, Error reason) {
  const Result<FileSurvey> survey = survey_onnx(options.model.path);
  if (!survey.ok()) return reason;
  const auto lacking = [](const OperatorUse& use) { return !use.problem.empty(); };
  if (std::none_of(survey->operators.begin(), survey->operators.end(), lacking)) return reason;
  if (options.json) put_json(survey_json(*survey, reason.message()));
  else put(survey_text(*survey));
  return reason;
}

Result<int> list_passes() {
  Table table({"pass", "load", "plan", "why"}, {});
  for (const Pass& pass : pipeline())
    table.row({pass.name, runs_in(pass, Stage::load) ? "x" : "", runs_in(pass, Stage::plan) ? "x" : "", pass.why});
  put(table.text());
  return kSuccess;
}

Result<int> show_graph(const Options& options) {
  SV_ASSIGN(const Stop stop, parse_stop(options.after));
  SV_ASSIGN(const SessionOptions session, options.runtime.resolve());
  const kernels::KernelTable* kernels = chosen_kernels(session);
  if (!kernels) return error("this processor runs none of the fast kernel sets built into this program; --kernels reference runs anywhere");
  SV_ASSIGN(Model model, load_model(options.model, names_of_files(options.inputs)));
  Inputs inputs;  // passes of loading see no sizes
  if (stop.stage == Stage::plan) {
    SV_ASSIGN(inputs, make_inputs(input_ports(model.graph), options.inputs, find_index_bounds(model.graph)));
  }
  for (const std::string& note : inputs.notes) print_hint(note);
  Result<Graph> graph = graph_at(std::move(model.graph), stop, pass_context(*kernels), inputs.tensors);
  if (!graph.ok()) return std::move(graph).error().in(options.model.path);
  put(print_graph(*graph, {options.most_elements}));
  return kSuccess;
}

Result<int> run(const Options& options) {
  if (options.passes) return list_passes();
  if (options.model.path.empty()) return error("inspect: MODEL is missing; see 'svengine inspect --help'");
  if (!options.after.empty()) return show_graph(options);
  Result<Network> loaded = load_network(options.model, options.runtime, names_of_files(options.inputs));
  if (!loaded.ok()) return show_refused(options, std::move(loaded).error());
  Network& network = *loaded;
  SV_ASSIGN(Inputs inputs, make_inputs(network.inputs, options.inputs, network.bounds));
  if (!options.json)
    for (const std::string& note : inputs.notes) print_hint(note);
  Report report;
  report.inputs = std::move(inputs.tensors);
  // The session has taken the graph; a second import costs little, its weights stay in the file.
  SV_ASSIGN(const Model model, read_model(options.model, names_of_files(options.inputs)));
  SV_TRY(count(model.graph, pass_context(network.session->kernels()), report));
  const Status planned = plan(*network.session, report);
  if (!planned.ok()) report.plan_problem = planned.error().message();
  if (options.plan && planned.ok()) {
    for (const auto& p : network.session->plans()) put(to_string(*p));
  } else if (options.json) {
    put_json(report_json(model, network, report));
  } else {
    put(report_text(model, network, report));
  }
  if (planned.ok()) return kSuccess;
  return error("{}: cannot be planned: {}", options.model.path, report.plan_problem);
}

}  // namespace inspect_command

Action add_inspect(Command& program) {
  using namespace inspect_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("inspect", "Show what a model holds and needs, without running it");
  add_model(command, options->model, false);
  Option* after = command
                      .add_option("--after", options->after,
                                  "Print the graph as text after this pass\nNAME, load:NAME, plan:NAME, or import for the graph as read")
                      ->type_name("PASS");
  command.add_option("--elements", options->most_elements, "With --after: print constants of up to so many elements in full (default: 16)")
      ->check(within(int64_t{0}, int64_t{1} << 40))
      ->needs(after)
      ->type_name("N");
  command.add_flag("--plan", options->plan, "Print the plan: memory slots with lifetimes, steps with kernels")->excludes(after);
  command.add_flag("--passes", options->passes, "List the passes and why they are there");
  options->inputs.only_types = true;
  add_input_options(command, options->inputs);
  add_runtime_options(command, options->runtime);
  add_json(command, options->json);
  command.footer(
      "Operators, parameters and constants are those of the file; FLOPs and bytes are for the shapes shown, each value read or\n"
      "written once, before anything is fused. The planned peak is what a run holds besides its inputs and outputs.\n"
      "Examples:\n  svengine inspect resnet50.onnx --dim N=8\n  svengine inspect model.onnx --json\n"
      "  svengine inspect model.onnx --after layout\n  svengine inspect --passes");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
