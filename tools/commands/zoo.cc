// svengine zoo: writes well-known networks with seeded weights as ONNX files.
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "importers/onnx/export.h"
#include "tools/commands/commands.h"
#include "tools/support/json.h"
#include "tools/support/network.h"
#include "tools/support/output.h"
#include "tools/zoo/zoo.h"

namespace svengine::tool {
namespace zoo_command {

struct Options {
  std::string name, path;
  uint64_t seed = 1;
  bool json = false;
};

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const ZooNetwork& n : zoo_networks()) out.emplace_back(n.name);
  return out;
}

Result<int> run(const Options& options) {
  const ZooNetwork* network = nullptr;
  for (const ZooNetwork& n : zoo_networks())
    if (options.name == n.name) network = &n;
  if (!network) return error("zoo: there is no network '{}'; there are {}", options.name, fmt::join(names(), ", "));
  SV_ASSIGN(const Graph graph, build_zoo_network(*network, options.seed));
  ExportOptions exported;
  exported.producer_version = SVENGINE_VERSION;
  exported.doc = fmt::format("{}; random weights, seed {}", network->description, options.seed);
  SV_TRY(export_onnx(graph, exported, options.path));
  int64_t parameters = 0;
  graph.for_each_value([&](Value& v) {
    if (is_parameter(v)) parameters += v.constant().count();
  });
  std::error_code problem;
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(options.path, problem));
  if (problem) return error("{}: {}", options.path, problem.message());
  if (options.json)
    put_json({{"network", network->name}, {"path", options.path}, {"seed", options.seed}, {"parameters", parameters},
              {"bytes", bytes}});
  else
    print("{}: {}, {} parameters, {}, seed {}\n", options.path, network->description, grouped(parameters),
          bytes_text(static_cast<double>(bytes)), options.seed);
  return kSuccess;
}

}  // namespace zoo_command

Action add_zoo(Command& program) {
  using namespace zoo_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("zoo", "Write a well-known network with seeded weights as ONNX");
  command.add_option("NETWORK", options->name, fmt::format("{}", fmt::join(names(), ", ")))->required()->offer(names())->type_name("");
  command.add_option("OUT", options->path, "ONNX file to write")->required()->type_name("");
  add_seed(command, options->seed, "Of the weights (default: 1); the same seed gives the same file everywhere");
  add_json(command, options->json);
  command.footer("Examples:\n  svengine zoo resnet50 resnet50.onnx\n  svengine zoo bert-tiny tiny.onnx --seed 7");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
