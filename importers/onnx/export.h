// Graphs as ONNX models: of ai.onnx operators, and those of other domains as they are.
//
// Weights are streamed from where they are into the file; only the structure passes through protobuf (write_model.h). The canonical form of
// the graph is that of the newest opset; nodes whose form is younger than the wanted opset are written in the older form
// (axes of reductions as an attribute), or refused where there is none.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine {

namespace onnx {
class OnnxFile;
}

struct ExportOptions {
  int opset = 17;  // 13 to kNewestOpset
  int64_t ir_version = 8;   // that of the opset, where that is newer
  std::string producer_name = "svengine";
  std::string producer_version = {};
  std::string doc = {};
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

/// The model that a graph is, whose constants it shares. Fails on operators that only the engine has, and on values in a blocked layout.
Result<onnx::OnnxFile> export_model(const Graph& graph, const ExportOptions& options);

/// The same, written. Fails also on models of 2 GiB and more, which protobuf's readers cannot take. `path` is replaced only when the model
/// is complete.
Status export_onnx(const Graph& graph, const ExportOptions& options, const std::string& path);

}  // namespace svengine
