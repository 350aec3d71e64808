// `svengine check`: everything that is wrong with an ONNX file, in one run: what ONNX's checker and operator schemas demand, what they
// forget, and what is odd though valid.
//
// Works on the structure of the file and looks at every weight where it lies. Rules: rules.h, one file a group: *_rules.cc; what inference
// finds is the importer's and the operators' own word (importers/onnx/node_importer.h), with unknown types behind a node that is refused.
//
// Any bytes give findings or an error, in time and memory bounded by the file's size: at most Findings::kMostOfRule of a rule are kept, and
// weights are read up to twice the size of the files they are in. Not thread-safe; calls do not share anything.
#pragma once
#include <memory>
#include <string>

#include "engine/base/status.h"
#include "importers/onnx/onnx_file.h"
#include "validate/check/findings.h"

namespace svengine::validate {

struct CheckOptions {
  /// Also look for operators that ai.onnx has not in this opset, or has in another form; 0: do not.
  int opset = 0;
  /// Look at the values of weights and read files of external data whole where they have a checksum.
  bool weights = true;
};

struct CheckReport {
  Findings findings;  // sorted by level
  int64_t nodes = 0;  // of the graph, bodies and functions
  int64_t tensors = 0;
};

/// Fails on what is no model, or only a part of one; the error names the file.
Result<CheckReport> check_model(const std::string& path, const CheckOptions& options = {});
Result<CheckReport> check_model(const onnx::OnnxFile& file, const CheckOptions& options = {});

}  // namespace svengine::validate
