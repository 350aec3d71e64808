// consumer MODEL: what another program does with the library. MODEL computes y[N, 3] = x[N, 3] + (1, 2, 3).
#include <svengine/nn.hpp>
#include <svengine/svengine.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace {

int failures = 0;

void check(bool good, const char* what, const std::string& detail = {}) {
  if (good) return;
  std::printf("FAILED: %s %s\n", what, detail.c_str());
  ++failures;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

void check_errors(const char* model) {
  const svengine::Network missing = svengine::Network::load("no-such-file.onnx");
  check(!missing && contains(missing.error(), "no-such-file.onnx"), "a missing file is an error that names it", missing.error());
  check(missing.inputs().empty(), "what is not loaded has no inputs");
  svengine::NetworkOptions options;
  options.topology = "nonsense";
  check(contains(svengine::Network::load(model, options).error(), "4x12"), "a bad topology is an error");
  options = {};
  options.kernels = "nonsense";
  check(contains(svengine::Network::load(model, options).error(), "nonsense"), "an unknown kernel set is an error");
  svengine::Network moved = svengine::Network::load(model);
  svengine::Network other = std::move(moved);
  std::vector<svengine::TensorView> outputs;
  check(!moved && !moved.run({}, outputs), "a network that was moved from does not run");
}

/// y[0] for x = 0.5, on a network that keeps its packed weights in `folder`.
void check_cache(const char* model, const std::string& folder, bool useful) {
  svengine::NetworkOptions options;
  options.cache = folder;
  for (int start = 0; start < 2; ++start) {
    svengine::Network network = svengine::Network::load(model, options);
    const float values[3] = {0.5f, 0.5f, 0.5f};
    std::vector<svengine::TensorView> outputs;
    check(network.run({svengine::view({1, 3}, values)}, outputs) && outputs[0].as<float>()[0] == 1.5f, "run with a cache", network.error());
    check(network.cache_problem().empty() == useful, "a folder that cannot be used is no error, but said", network.cache_problem());
  }
}

/// y = 2 x + 1 is learnt by a network that is built here, saved to `path`, and run.
void check_training(const std::string& path) {
  namespace nn = svengine::nn;
  nn::Net net;
  net.output(net.apply(nn::Linear(1, 1), net.input("x", svengine::ElementType::float32, {-1, 1})), "y");
  nn::TrainerOptions options;
  options.loss = "mse";
  nn::Trainer trainer = nn::Trainer::create(net, options);
  const float x[4] = {-1, 0, 1, 2}, y[4] = {-1, 1, 3, 5};
  for (int i = 0; i < 200; ++i)
    check(trainer.step({{svengine::view({4, 1}, x)}, svengine::view({4, 1}, y)}, 0.1), "a step", trainer.error());
  check(trainer.save(path), "save", trainer.error());
  svengine::Network network = svengine::Network::load(path);
  std::vector<svengine::TensorView> out;
  check(network.run({svengine::view({4, 1}, x)}, out) && std::fabs(out[0].as<float>()[3] - 5) < 1e-3f, "what was learnt", network.error());
  check(!net.apply(nn::Linear(3, 1), nn::Var()).backward() && !net, "a net that cannot be built says so", net.error());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  svengine::NetworkOptions options;
  options.threads = 2;
  svengine::Network network = svengine::Network::load(argv[1], options);
  check(static_cast<bool>(network), "load", network.error());
  if (!network) return 1;
  const svengine::TensorInfo& x = network.inputs().at(0);
  check(x.name == "x" && x.type == svengine::ElementType::float32 && x.has_rank, "the input is described");
  check(x.shape == std::vector<int64_t>{-1, 3} && x.shape_names == std::vector<std::string>{"N", ""}, "the input's shape is described");

  for (int64_t n : {1, 2, 1}) {
    std::vector<float> values(static_cast<size_t>(3 * n), 0.5f);
    std::vector<svengine::TensorView> outputs;
    check(network.run({svengine::view({n, 3}, values.data())}, outputs), "run", network.error());
    check(outputs.size() == 1 && outputs[0].shape == std::vector<int64_t>{n, 3}, "the output has its shape");
    for (int64_t i = 0; outputs.size() == 1 && i < 3 * n; ++i)
      check(outputs[0].as<float>()[i] == 1.5f + static_cast<float>(i % 3), "the output is right");
  }

  const float values[4] = {};
  std::vector<svengine::TensorView> outputs;
  check(!network.run({svengine::view({1, 4}, values)}, outputs) && outputs.empty(), "a wrong shape is refused");
  check(contains(network.error(), "dimension 1 is 4, not 3"), "and the error says why", network.error());
  check(!network.run({svengine::view({1, 3}, static_cast<const float*>(nullptr))}, outputs), "a null pointer is refused");
  check(!network.run({}, outputs), "missing inputs are refused");
  check(network.run({svengine::view({1, 3}, values)}, outputs), "and the network goes on working", network.error());
  check_errors(argv[1]);
  check_cache(argv[1], std::string(argv[1]) + ".cache", true);
  check_cache(argv[1], std::string(argv[1]) + "/below", false);
  check_training(std::string(argv[1]) + ".trained.onnx");
  check(std::strlen(svengine::version()) > 0, "the library has a version");
  if (failures == 0) std::printf("svengine %s works for others\n", svengine::version());
  return failures ? 1 : 0;
}
