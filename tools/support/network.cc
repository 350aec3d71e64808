#include "tools/support/network.h"

#include <sys/resource.h>

#include <algorithm>

#include "importers/io/names.h"
#include "importers/onnx/import.h"
#include "runtime/weight_cache.h"
#include "tools/support/output.h"

namespace svengine::tool {

Result<Model> read_model(const ModelFile& file, const std::vector<std::string>& given) {
  ImportOptions options;
  options.strict = file.strict;
  SV_ASSIGN(Model model, import_onnx(file.path, options));
  model.graph.for_each_value([&](Value& v) {
    if (v.is_constant() && std::find(given.begin(), given.end(), v.name()) != given.end())
      options.inputs_instead_of_initializers.push_back(v.name());
  });
  if (options.inputs_instead_of_initializers.empty()) return model;
  return import_onnx(file.path, options);
}

Result<Model> load_model(const ModelFile& file, const std::vector<std::string>& given) {
  Result<Model> model = read_model(file, given);
  if (!model.ok()) return model;
  for (const std::string& warning : model->warnings) print_hint(fmt::format("{}: {}", printable(file.path), warning));
  return model;
}

Result<Network> load_network(const ModelFile& file, const RuntimeOptions& runtime, const std::vector<std::string>& given) {
  SV_ASSIGN(SessionOptions options, runtime.resolve());
  Network out;
  Stopwatch load;
  SV_ASSIGN(out.model, load_model(file, given));
  out.load_ms = load.milliseconds();
  out.inputs = input_ports(out.model.graph);
  out.bounds = find_index_bounds(out.model.graph);
  Stopwatch optimise;
  Result<std::unique_ptr<Session>> session = Session::create(std::move(out.model.graph), std::move(options));
  if (!session.ok()) return std::move(session).error().in(printable(file.path));
  out.session = std::move(session).value();
  out.optimise_ms = optimise.milliseconds();
  return out;
}

void print_cache_problem(Network& network) {
  const std::string problem = network.session->cache_report().problem;
  if (problem == network.last_warning) return;
  network.last_warning = problem;
  print_hint(problem);
}

Status make_ready(Network& network, const std::vector<Tensor>& inputs) {
  Stopwatch planning;
  Status status = network.session->prepare(inputs);
  if (!status.ok()) return std::move(status).error().in(printable(network.model.path));
  network.optimise_ms += planning.milliseconds();
  print_cache_problem(network);
  return {};
}

Result<std::vector<Tensor>> run_network(Network& network, const std::vector<Tensor>& inputs, bool profile) {
  Result<std::vector<Tensor>> outputs = network.session->run(inputs, profile);
  if (!outputs.ok()) return std::move(outputs).error().in(printable(network.model.path));
  print_cache_problem(network);
  return outputs;
}

bool is_parameter(const Value& value) {
  return value.is_constant() && is_float(value.type.dtype) && !value.constant().dims().empty();
}

double peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts KiB
}

}  // namespace svengine::tool
