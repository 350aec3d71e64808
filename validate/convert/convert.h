// A model as another model: of another opset, simplified, a part of it, in another type, its data inside or beside it.
//
//   file ── extract ──> structure ──────────────────────────────────────────────────────────> write        nodes as they stand in the file
//                           └── import ── simplify ── change type ── export at an opset ──────┘            nodes in canonical form
//
// Only what is asked for is done: where neither opset, simplification nor type is, nothing passes through the engine's graph.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "importers/onnx/write_model.h"
#include "validate/convert/change_type.h"
#include "validate/convert/simplify.h"

namespace svengine::validate {

struct ConvertOptions {
  std::vector<std::string> from = {}, to = {};  // extract.h
  std::optional<int> opset = {};               // of ai.onnx, 13 to the newest
  bool simplify = false;
  int64_t growth_bytes = int64_t{1} << 20;     // of constants, by simplification
  std::optional<ChangeTypeOptions> type = {};
  onnx::WriteOptions write = {};
};

struct ConvertReport {
  int opset = 0;                               // of the written model; 0: it imports no ai.onnx
  std::optional<SimplifyReport> simplified = {};
  std::vector<Saturated> saturated = {};
  /// What `check` finds wrong with the written model by rules that the original keeps: types, say, that an operator has not in an older opset.
  std::vector<std::string> problems = {};
};

/// Writes the model at `path` as `output`, which may be `path` itself. Memory: the mapped file, its structure, and weights that change.
/// Functions of a model are inlined, and what the file says of itself other than name, doc and metadata is lost, where nodes go through the graph.
Result<ConvertReport> convert(const std::string& path, const std::string& output, const ConvertOptions& options, const PassContext& context);

}  // namespace svengine::validate
