// Random graphs as files, for another engine to run: FOLDER/SEED/model.onnx, and test_data_set_0 with the values of the first kernel set.
#pragma once
#include <string>

#include "tests/differential/check.h"

namespace svengine::differential {

/// Writes `random` to folder/seed in an opset that the seed chooses; nothing where no ONNX model can be the graph (converted.h says when).
/// What could not be written is the answer, one line.
std::string write_to_folder(const RandomGraph& random, const CheckOptions& options, const std::string& folder);

}  // namespace svengine::differential
