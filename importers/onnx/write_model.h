// Writes an ONNX file whose structure has been changed (onnx_file.h), with its tensors.
//
// Only the structure passes through protobuf. Tensors are copied as they stand in the source, byte for byte, from the mapped files to the
// new ones, so memory does not grow with the weights, and models of more than 2 GiB can be written with their data beside them. Tensors that
// are made late (LateTensor) are there a part at a time, when their turn has come.
#pragma once
#include <string>

#include "importers/onnx/onnx_file.h"

namespace svengine::onnx {

/// A model file that readers built on protobuf can take has fewer bytes than this.
inline constexpr size_t kMostModelBytes = (size_t{1} << 31) - 1;

struct WriteOptions {
  enum class Data : uint8_t {
    as_is,     // what was in external files is so again
    embedded,  // all in the model
    external,  // initializers of at least `external_from` bytes beside it, in one file
  } data = Data::as_is;
  size_t external_from = 1024;  // what onnx.save_model leaves in the model, too
  size_t most_model_bytes = kMostModelBytes;
};

/// External data go to `path` + ".data", named as external entries want it: by the file's name alone. Files are replaced when the new ones
/// are complete, the data before the model that names them. Fails on tensors that are needed and cannot be read.
Status write_model(const OnnxFile& file, const std::string& path, const WriteOptions& options = {});

}  // namespace svengine::onnx
