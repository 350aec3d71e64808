// The domains of operators that the engine knows, and newest opsets.
#pragma once
#include <limits>

namespace svengine {

/// The opsets of ai.onnx, whose domain is "", whose operators' forms are known.
inline constexpr int kOldestOpset = 1, kNewestOpset = 28;
/// The newest of ai.onnx.ml.
inline constexpr int kNewestMlOpset = 5;
/// OpDef::until of an operator whose form nobody says will change.
inline constexpr int kNoLastOpset = std::numeric_limits<int>::max();

/// Operators that exist only inside the engine (made by passes, never in a file).
inline constexpr const char* kInternalDomain = "svengine";
/// The engine's own operators for files and programs.
inline constexpr const char* kEngineDomain = "ai.svengine";
inline constexpr const char* kMlDomain = "ai.onnx.ml";
inline constexpr const char* kPreviewDomain = "ai.onnx.preview";
/// ONNX's training operators.
inline constexpr const char* kTrainingDomain = "ai.onnx.preview.training";
/// ONNX Runtime's operators.
inline constexpr const char* kMicrosoftDomain = "com.microsoft";

}  // namespace svengine
