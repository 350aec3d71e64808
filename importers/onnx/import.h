// Reads ONNX models: IR versions 1 to 14, ai.onnx opsets 1 to 28; newer ones with a warning, if their operators are known.
//
//   bytes ── stripped_model.h ──> ModelProto without weights ── support_check.h ──> everything unsupported, named at once
//                              └── initializers (in place), inputs, nodes in order: canonical form, types inferred ──> Graph
//
// Any bytes give a Model or an Error that names file, node, shapes and cause, in time and memory bounded by the file's size.
//
// Weights of more than 4 KiB stay where they are in the mapped file, aligned or not; the graph's tensors keep the mapping
// alive. A file that is cut off or changed while it is mapped takes its weights with it (SIGBUS, as for any mapped file).
//
// Declared types of inner values and outputs refine dimensions that inference cannot know; they are the file's word, so what
// computes addresses must infer again from concrete shapes, as planning does. Where they contradict inference, that counts, with a warning.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/op_registry.h"
#include "importers/onnx/model.h"

namespace svengine {

namespace onnx {
class OnnxFile;
}

struct ImportOptions {
  /// The operators to accept; null: all of the engine.
  const OpRegistry* ops = nullptr;
  /// Initializers that are also declared as inputs are constants; those named here become inputs that must be given.
  std::vector<std::string> inputs_instead_of_initializers = {};
  /// For import from bytes: the folder for external data; empty: external data are refused. (Files: the file's folder.)
  std::string external_folder = {};
  /// Errors, not warnings: declared shapes that contradict what follows from inputs and nodes, nodes out of order, operators of
  /// domains that are not imported, and vectors of more dimensions than one.
  bool strict = false;
};

Result<Model> import_onnx(const std::string& path, const ImportOptions& options = {});

/// What a file holds, though import_onnx() may refuse it. Fails only on files that are no models.
Result<FileSurvey> survey_onnx(const std::string& path);

/// From memory. `owner` keeps `bytes` alive as long as the graph needs them; `name` stands for the path in errors.
Result<Model> import_onnx(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const std::string& name,
                          const ImportOptions& options = {});

/// Of a file whose structure may have been changed; its tensors are the file's own: OnnxFile::add() has added none.
Result<Model> import_onnx(const onnx::OnnxFile& file, const ImportOptions& options = {});

}  // namespace svengine
