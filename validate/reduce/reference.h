// What a model should compute, recorded: by another model, another kernel set, or without optimisation.
#pragma once
#include "validate/reduce/recording.h"
#include "importers/onnx/onnx_file.h"

namespace svengine::validate {

/// The names of all values that the nodes of a model's graph compute.
std::vector<std::string> computed_names(const onnx_proto::ModelProto& model);

/// Records the values of another model under the names of this one, matched as `diff` does it (match.h). `inputs` in the order of this one's.
Result<Recording> record_other(const onnx::OnnxFile& model, const std::vector<std::string>& input_names, const std::vector<Tensor>& inputs,
                               const std::string& other, const SessionOptions& options, const std::string& folder);

}  // namespace svengine::validate
