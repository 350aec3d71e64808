// Which of ONNX's backend tests concern this engine.
#pragma once
#include <optional>
#include <string>

namespace svengine::backend {

/// Why the test's model is not applicable: an operator that is not implemented, an opset outside the supported range, a value
/// that is no dense tensor of a type the engine stores. Read from the file itself, not from what the importer says, so that
/// an importer that refuses too much is a failure and not a skip. Nothing when the test must pass.
std::optional<std::string> not_applicable(const std::string& model_path);

}  // namespace svengine::backend
