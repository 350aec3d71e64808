// A model file as something to run, with the times it took.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "importers/onnx/model.h"
#include "runtime/session.h"
#include "tools/support/inputs.h"

namespace svengine::tool {

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Network {
  Model model;  // without its graph, which the session has taken
  std::vector<Session::Port> inputs;
  IndexBounds bounds;
  std::unique_ptr<Session> session;
  double load_ms = 0;      // file to graph
  double optimise_ms = 0;  // passes at load; make_ready() adds planning
  std::string last_warning;        // what print_cache_problem() has said
};

/// `given`: names for which there are inputs. Those that a file has an initializer for become inputs instead of constants.
Result<Model> read_model(const ModelFile& file, const std::vector<std::string>& given = {});
/// The same, and the model's warnings on standard error.
Result<Model> load_model(const ModelFile& file, const std::vector<std::string>& given = {});
Result<Network> load_network(const ModelFile& file, const RuntimeOptions& runtime, const std::vector<std::string>& given = {});

/// Plans for these inputs; errors name the file.
Status make_ready(Network& network, const std::vector<Tensor>& inputs);

/// What is wrong with the cache of packed weights, on standard error, once; make_ready() and run_network() do it.
void print_cache_problem(Network& network);

/// Errors name the file.
Result<std::vector<Tensor>> run_network(Network& network, const std::vector<Tensor>& inputs, bool profile = false);

/// What people count as a parameter: a constant of real numbers that is no scalar.
bool is_parameter(const Value& value);

/// Most memory this process has held, in MiB.
double peak_rss_mib();

}  // namespace svengine::tool
