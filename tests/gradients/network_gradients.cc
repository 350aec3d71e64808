// Gradients of a whole ONNX network with respect to all its weights, for a comparison with PyTorch's (networks_test.py).
//
//   network_gradients MODEL.onnx DATA.npz FOLDER [KERNELS]
//
// DATA.npz has every input by name, and "gradient.NAME" for every output NAME that is differentiated. FOLDER gets NAME.npy for
// every trainable constant NAME, and NAME.npy for every output. Runs with one thread and with three, which must agree bit by bit.
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "engine/graph/autodiff.h"
#include "engine/ops/registry.h"
#include "importers/npy/npy.h"
#include "importers/npy/npz.h"
#include "importers/onnx/import.h"
#include "runtime/session.h"

using namespace svengine;

namespace {

template <class T>
T check(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message());
  return std::move(result).value();
}

void check(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error().message());
}

/// The network with gradients as further outputs, and what a run needs.
struct Training {
  Graph graph;
  std::vector<std::string> output_names;
  std::vector<Tensor> inputs;
};

Training differentiate(Graph graph, const std::string& data) {
  Training t;
  for (const Value* v : graph.inputs()) t.inputs.push_back(check(load_npz(data, v->name())));
  for (const Value* v : graph.outputs()) t.output_names.push_back(v->name());
  std::vector<std::string> names;
  std::vector<Value*> weights = trainable_constants(graph);
  for (const Value* v : weights) names.push_back(v->name());
  for (Tensor& tensor : check(constants_to_inputs(graph, names))) t.inputs.push_back(std::move(tensor));
  check(prepare_for_gradients(graph, pass_context(*kernels::available_kernel_sets()[0])));
  std::vector<GradientSeed> seeds;
  for (Value* v : graph.outputs()) {
    const std::string name = "gradient." + v->name();
    auto given = load_npz(data, name);
    if (!given.ok()) continue;
    seeds.push_back({v, graph.add_input(name, v->type)});
    t.inputs.push_back(std::move(given).value());
  }
  for (Value* g : check(add_gradients(graph, all_ops(), seeds, weights, Unreached::zeros))) graph.add_output(g);
  t.output_names.insert(t.output_names.end(), names.begin(), names.end());
  t.graph = std::move(graph);
  return t;
}

std::vector<Tensor> run(const Training& t, const char* topology, const kernels::KernelTable* set) {
  SessionOptions options;
  options.topology = check(parse_topology(topology));
  options.exact_convolution = true;  // a rounding error of Winograd more often moves a number across the kink of a Relu
  options.kernels = set;
  return check(check(Session::create(t.graph.clone(), options))->run(t.inputs));
}

int main_checked(int argc, char** argv) {
  if (argc < 4) throw std::runtime_error("usage: network_gradients MODEL.onnx DATA.npz FOLDER [KERNELS]");
  const kernels::KernelTable* set = argc > 4 ? kernels::find_kernel_set(argv[4]) : nullptr;
  Model model = check(import_onnx(argv[1]));
  const Training t = differentiate(std::move(model.graph), argv[2]);
  const std::vector<Tensor> one = run(t, "1x1", set), three = run(t, "1x3", set);
  for (size_t i = 0; i < one.size(); ++i) {
    if (std::memcmp(one[i].raw(), three[i].raw(), one[i].byte_size()) != 0)
      throw std::runtime_error("'" + t.output_names[i] + "' differs between one thread and three");
    check(save_npy(one[i], std::string(argv[3]) + "/" + t.output_names[i] + ".npy"));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return main_checked(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
