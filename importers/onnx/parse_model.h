// From a file's bytes to protobuf's objects, without the weights.
#pragma once
#include "importers/onnx/stripped_model.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

/// The structure of a model: every TensorProto is a placeholder (stripped_model.h). Fails on what is no model, and says what it looks like.
Result<onnx_proto::ModelProto> parse_model(Bytes bytes, Keep keep = Keep::what_runs);

}  // namespace svengine::onnx
