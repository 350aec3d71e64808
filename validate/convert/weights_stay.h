// What is written must not be what a model's weights are read from.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "importers/onnx/onnx_file.h"

namespace svengine::validate {

/// The files that hold initializers of the model at `path`.
std::set<std::filesystem::path> data_files(const onnx::OnnxFile& file, const std::string& path);

/// An error if one of the files to be written holds weights of the model at `path`. Another file than the model's own may then be written over
/// them, whichever file's they will be; the model itself may be replaced, for it is read before.
Status check_weights_stay(const onnx::OnnxFile& file, const std::string& path, const std::vector<std::string>& written);

/// The same of a model that is opened for this. What cannot be opened is somebody else's error.
Status check_weights_stay(const std::string& path, const std::vector<std::string>& written);

}  // namespace svengine::validate
