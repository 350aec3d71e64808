// A network as the API's contexts share it: what it computes, and on demand its derivatives.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "importers/onnx/import.h"
#include "runtime/compiled_model.h"
#include "svengine/svengine.hpp"

namespace svengine {

/// Of an ONNX file's bytes, which are copied; weights in other files are refused.
Result<Model> import_copy(std::span<const std::byte> bytes);

/// Thread-safe.
class SharedNetwork {
 public:
  /// What a call computes.
  enum class Purpose : uint8_t { run, vjp, jvp };

  static Result<std::shared_ptr<SharedNetwork>> open(Graph graph, const SessionOptions& options, bool convert);

  const std::vector<TensorInfo>& inputs() const { return inputs_; }
  const std::vector<TensorInfo>& outputs() const { return outputs_; }
  /// Floats of one size are taken for those of another.
  bool converts() const { return convert_; }

  /// Made when it is first asked for; that of `run` is there from the beginning.
  Result<std::shared_ptr<CompiledModel>> model(Purpose purpose);

 private:
  SharedNetwork() = default;

  Graph imported_;  // whose weights are those of the file
  SessionOptions options_;
  bool convert_ = false;
  std::vector<TensorInfo> inputs_, outputs_;
  std::mutex mutex_;
  std::shared_ptr<CompiledModel> models_[3];
};

}  // namespace svengine
