// write_graphs FOLDER FIRST COUNT: random graphs (tests/differential) as C, with all passes that `svengine emit` runs, for compare_samples.c.
// write_graphs FOLDER FIRST COUNT OUTPUTS: compares what that wrote with the graphs computed node by node.
#include <cstdlib>
#include <fstream>

#include "engine/kernels/kernel_table.h"
#include "runtime/compiled_model.h"
#include "tests/differential/compare.h"
#include "tests/differential/graph_maker.h"
#include "tests/emit/emitted_writer.h"
#include "tools/emit/prepare.h"
#include "tools/emit/table.h"

using namespace svengine;

namespace {

struct Written {
  uint64_t seed;
  differential::RandomGraph random;
  Graph graph;  // after the passes
};

const kernels::KernelTable& reference() { return *kernels::find_kernel_set("reference"); }

/// Nothing where the graph has operators or types that have no C, or shapes that depend on data.
Result<Written> graph_of(uint64_t seed) {
  SV_ASSIGN(differential::RandomGraph random, differential::random_graph(seed, reference(), [](const std::string&) {}));
  std::vector<Dims> dims;
  for (const Tensor& t : random.inputs) dims.push_back(t.dims());
  PassContext context = pass_context(reference());
  context.block = 0;
  SV_ASSIGN(Graph graph, tool::emit::prepare(random.graph.clone(), dims, context));
  for (const auto& node : graph.nodes())
    if (const std::string why = tool::emit::refusal(*node); !why.empty()) return error("{}", why);
  SV_TRY(tool::emit::interface_of(graph, "graph"));
  return Written{seed, std::move(random), std::move(graph)};
}

std::vector<Tensor> expected_of(const differential::RandomGraph& random) {
  std::vector<Tensor> out;
  for (const Value* v : random.graph.outputs()) out.push_back(random.values.at(v));
  return out;
}

int write(const std::string& folder, uint64_t first, uint64_t count) {
  tests::EmittedWriter writer(folder);
  std::ofstream seeds(folder + "/seeds.txt");
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Result<Written> written = graph_of(seed);
    if (!written.ok()) continue;
    const std::vector<Tensor> expected = expected_of(written->random);
    if (Status status = writer.add(written->graph, fmt::format("seed {}", seed), written->random.inputs, expected, {}); !status.ok()) {
      fmt::print("seed {}: {}\n", seed, status.error().message());
      return 1;
    }
    seeds << seed << '\n';
  }
  writer.finish();
  fmt::print("{} of {} graphs\n", writer.count(), count);
  return 0;
}

int compare(const std::string& folder, const std::string& outputs) {
  std::ifstream seeds(folder + "/seeds.txt"), data(outputs, std::ios::binary);
  int bad = 0;
  for (uint64_t seed = 0; seeds >> seed;) {
    const Result<Written> written = graph_of(seed);
    if (!written.ok()) return 2;
    const differential::RandomGraph& random = written->random;
    std::vector<differential::Difference> differences;
    for (const Value* v : random.graph.outputs()) {
      const Tensor& wanted = random.values.at(v);
      MutableTensor got = *Tensor::allocate(wanted.type(), wanted.dims());
      data.read(reinterpret_cast<char*>(got.raw()), static_cast<std::streamsize>(got.byte_size()));
      if (!data) return 2;
      if (!differential::agrees(*v, got, wanted)) differences.push_back({v, got, "C"});
    }
    const std::string problem =
        differences.empty() ? "" : differential::unexplained(random.graph, random.values, differences, reference(), random.loose);
    if (!problem.empty()) fmt::print("seed {}: {}\n", seed, problem), ++bad;
  }
  fmt::print("{} graphs differ\n", bad);
  return bad != 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return 2;
  const uint64_t first = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
  return argc == 4 ? write(argv[1], first, count) : compare(argv[1], argv[4]);
}
