#include "validate/convert/weights_stay.h"

#include "engine/base/status.h"

namespace svengine::validate {

std::set<std::filesystem::path> data_files(const onnx::OnnxFile& file, const std::string& path) {
  std::set<std::filesystem::path> out;
  for (const auto& tensor : file.model().graph().initializer()) {
    const Result<onnx::TensorRecord> record = file.record(tensor);
    if (!record.ok() || !record->external) continue;
    for (const auto& [key, value] : record->external_data)
      if (key == "location") out.insert(std::filesystem::path(path).parent_path() / value);
  }
  return out;
}

Status check_weights_stay(const onnx::OnnxFile& file, const std::string& path, const std::vector<std::string>& written) {
  std::error_code missing;
  if (std::filesystem::equivalent(path, written.front(), missing)) return {};
  for (const std::filesystem::path& data : data_files(file, path))
    for (const std::string& to : written)
      if (std::filesystem::equivalent(data, to, missing))
        return error("'{}' holds weights of '{}', which would be lost; write to another name or folder", printable(to), printable(path));
  return {};
}

Status check_weights_stay(const std::string& path, const std::vector<std::string>& written) {
  const Result<onnx::OnnxFile> file = onnx::OnnxFile::open(path);
  return file.ok() ? check_weights_stay(*file, path, written) : Status();
}

}  // namespace svengine::validate
