// svengine test: runs a network on recorded inputs and compares with the recorded outputs.
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/commands/commands.h"
#include "validate/compare/compare_tensors.h"
#include "tools/support/test_data_set.h"
#include "validate/compare/element.h"
#include "tools/support/json.h"
#include "tools/support/network.h"
#include "tools/support/output.h"

namespace svengine::tool {

using validate::element_text, validate::index_text;
namespace test_command {

struct Options {
  ModelFile model;
  std::vector<std::string> folders;
  validate::Tolerance tolerance;
  RuntimeOptions runtime;
  bool json = false;
};

struct OutputResult {
  std::string name;
  validate::Comparison comparison;
  Tensor got, expected;
};

struct SetResult {
  std::string path;
  std::vector<OutputResult> outputs;
};

Result<std::vector<std::string>> data_sets(const Options& options) {
  std::vector<std::string> folders = options.folders;
  if (folders.empty()) {
    const std::string beside = std::filesystem::path(options.model.path).parent_path().string();
    folders.push_back(beside.empty() ? "." : beside);
  }
  std::vector<std::string> sets;
  for (const std::string& folder : folders) {
    SV_ASSIGN(const std::vector<std::string> found, find_test_data_sets(folder));
    sets.insert(sets.end(), found.begin(), found.end());
  }
  return sets;
}

/// Errors name the data set.
Result<SetResult> run_set(Network& network, const std::string& path, const validate::Tolerance& tolerance) {
  const std::vector<Session::Port>& ports = network.session->outputs();
  SV_ASSIGN(const TestDataSet set, load_test_data_set(path, network.inputs, ports));
  if (set.outputs.size() != ports.size())
    return error("{}: has {} outputs, the network {}", path, set.outputs.size(), ports.size());
  Result<std::vector<Tensor>> got = run_network(network, set.inputs);
  if (!got.ok()) return std::move(got).error().in(path);
  SetResult out{path, {}};
  for (size_t i = 0; i < ports.size(); ++i)
    out.outputs.push_back({ports[i].name, validate::compare((*got)[i], set.outputs[i], tolerance), (*got)[i], set.outputs[i]});
  return out;
}

Json worst(const OutputResult& result, double value, int64_t index) {
  if (index < 0) return nullptr;
  return {{"error", value},
          {"index", index_text(result.expected.dims(), index)},
          {"got", validate::element_as_double(result.got, index)},
          {"expected", validate::element_as_double(result.expected, index)}};
}

Json to_json(const Options& options, const std::vector<SetResult>& results, bool passed) {
  Json sets = Json::array();
  for (const SetResult& set : results) {
    Json outputs = Json::array();
    for (const OutputResult& r : set.outputs) {
      const validate::Comparison& c = r.comparison;
      Json row = {{"name", r.name}, {"passed", c.passed}, {"elements", c.count}};
      if (!c.mismatch.empty()) {
        row["mismatch"] = c.mismatch;
      } else {
        row["atol"] = c.atol;
        row["over_tolerance"] = c.over;
        row["worst_absolute"] = worst(r, c.worst_abs, c.worst_abs_index);
        row["worst_relative"] = worst(r, c.worst_rel, c.worst_rel_index);
      }
      outputs.push_back(std::move(row));
    }
    sets.push_back({{"path", set.path}, {"outputs", std::move(outputs)}});
  }
  const std::optional<double>& atol = options.tolerance.atol;
  return {{"model", options.model.path}, {"rtol", options.tolerance.rtol}, {"atol", atol ? Json(*atol) : Json(nullptr)},
          {"passed", passed}, {"data_sets", sets}};
}

std::string worst_text(const OutputResult& r, double value, int64_t index) {
  if (r.comparison.count == 0) return "no elements";
  if (index < 0) return "0";
  return fmt::format("{:.3g} at {} ({}, expected {})", value, index_text(r.expected.dims(), index), element_text(r.got, index, 8),
                     element_text(r.expected, index, 8));
}

std::string to_text(const std::vector<SetResult>& results) {
  Table table({"", "output", "over", "elements", "atol", "worst absolute error", "worst relative error"},
              {Table::Align::left, Table::Align::left, Table::Align::right, Table::Align::right});
  std::string out;
  for (const SetResult& set : results) {
    out += set.path + '\n';
    Table lines = table;
    for (const OutputResult& r : set.outputs) {
      const validate::Comparison& c = r.comparison;
      if (!c.mismatch.empty()) {
        lines.row({"FAIL", r.name, "-", grouped(c.count), "-", c.mismatch});
        continue;
      }
      lines.row({c.passed ? "pass" : "FAIL", r.name, grouped(c.over), grouped(c.count), fmt::format("{:.3g}", c.atol),
                 worst_text(r, c.worst_abs, c.worst_abs_index), worst_text(r, c.worst_rel, c.worst_rel_index)});
    }
    out += lines.text("  ");
  }
  return out;
}

Result<int> run(const Options& options) {
  SV_ASSIGN(const std::vector<std::string> sets, data_sets(options));
  SV_ASSIGN(Network network, load_network(options.model, options.runtime));
  std::vector<SetResult> results;
  size_t outputs = 0, passed = 0;
  for (const std::string& path : sets) {
    SV_ASSIGN(SetResult result, run_set(network, path, options.tolerance));
    for (const OutputResult& r : result.outputs) ++outputs, passed += r.comparison.passed;
    results.push_back(std::move(result));
  }
  const bool all = passed == outputs;
  if (options.json) {
    put_json(to_json(options, results, all));
  } else {
    put(to_text(results));
    const std::string atol = options.tolerance.atol ? fmt::format("{:g}", *options.tolerance.atol)
                                                    : fmt::format("{:g} of each output's largest value", validate::kAtolOfLargest);
    print("{}: {} of {} outputs of {} data sets within rtol {:g}, atol {}\n", all ? "pass" : "FAIL", passed, outputs, sets.size(),
          options.tolerance.rtol, atol);
  }
  return all ? kSuccess : kFailed;
}

}  // namespace test_command

Action add_test(Command& program) {
  using namespace test_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("test", "Compare a network's outputs with recorded ones");
  add_model(command, options->model);
  command.add_option("DIR", options->folders,
                     "With input_0, ..., output_0, ... (.pb or .npy), or test_data_set_N (default: the model's folder)")
      ->type_name("");
  command.add_option("--rtol", options->tolerance.rtol, "Relative tolerance (default: 1e-3, as ONNX's backend tests)")
      ->check(not_negative())
      ->type_name("R");
  command.add_option("--atol", options->tolerance.atol,
                     "Absolute tolerance (default: 1e-5 of the output's largest expected value)\nby absolute values; 1e-7 where all are 0")
      ->check(not_negative())
      ->type_name("A");
  add_runtime_options(command, options->runtime);
  add_json(command, options->json);
  command.footer(
      "An element passes when |got - expected| <= atol + rtol * |expected|; integers and bools must be equal.\n"
      "Exit code 1 when an output fails.\n"
      "Examples:\n  svengine test resnet50/model.onnx\n  svengine test model.onnx test_data_set_0 --atol 1e-4 --rtol 0");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
