// What the tests of reduction share: folders, models, and reductions by a command.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "importers/onnx/import_test_util.h"
#include "tests/support/must.h"
#include "validate/reduce/command_check.h"
#include "validate/reduce/reduce.h"
#include "validate/reduce/reference.h"

namespace svengine::tests {

using namespace svengine::validate;

class ReduceFolder {
 public:
  ReduceFolder() : path_((std::filesystem::temp_directory_path() / fmt::format("svengine_reduce_test_{}_{}", getpid(), next_++)).string()) {
    std::filesystem::create_directories(path_ + "/values");
    std::filesystem::create_directories(path_ + "/candidate");
  }
  ~ReduceFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + '/' + name; }

 private:
  static inline int next_ = 0;
  std::string path_;
};

/// x -> depth times (Mul by w<i>, Tanh) -> y; the weight of number `bad` is another.
inline ModelProto chain(int depth, int bad = -1) {
  ModelProto model = empty_model();
  add_input(model, "x", {1, 4});
  std::string at = "x";
  for (int i = 0; i < depth; ++i) {
    const std::string n = std::to_string(i);
    add_initializer(model, "w" + n, {4}, {i == bad ? 3.f : 1.f, 1, .5f, 1});
    add_node(model, "Mul", {at, "w" + n}, {"m" + n}, "mul" + n);
    add_node(model, "Tanh", {"m" + n}, {"t" + n}, "tanh" + n);
    at = "t" + n;
  }
  add_node(model, "Identity", {at}, {"y"}, "last");
  set_type(model.mutable_graph()->add_output(), "y", {1, 4});
  return model;
}

inline std::string save(const ModelProto& model, const std::string& path) {
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  return path;
}

inline onnx::OnnxFile opened(const std::string& path) {
  Result<onnx::OnnxFile> file = onnx::OnnxFile::open(path);
  REQUIRE(file.ok());
  return std::move(file).value();
}

inline Tensor input() { return Tensor::of<float>({1, 4}, {.5f, -.25f, .75f, 1}); }

inline SessionOptions one_thread() {
  SessionOptions options;
  options.topology = detect_topology(1);
  return options;
}

/// Reduces with a command; the model's inputs are recorded.
inline Result<ReduceReport> by_command(const ReduceFolder& folder, const ModelProto& model, const CommandCheck& check, double max_seconds = 0) {
  const std::string path = save(model, folder / "m.onnx");
  onnx::OnnxFile file = opened(path);
  const Recording recording = must(Recording::make(path, computed_names(file.model()), {input()}, one_thread(), folder / "values"));
  return reduce_model(file, recording, fault_by_command(check), {.scratch = folder / "candidate", .max_seconds = max_seconds});
}

}  // namespace svengine::tests
