#include "tools/support/test_data_set.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include "importers/onnx/tensor_file.h"
#include "importers/tensor/load_tensor.h"

namespace svengine::tool {
namespace {

namespace fs = std::filesystem;

/// 7 of "input_7.npy" and ("input_", ...).
std::optional<size_t> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  size_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool is_data(const fs::path& path) { return path.extension() == ".pb" || path.extension() == ".npy"; }

std::optional<size_t> file_number(const fs::path& path, const char* prefix) {
  return is_data(path) ? number_after(path.stem().string(), prefix) : std::nullopt;
}

Result<std::vector<fs::path>> list(const std::string& folder) {
  std::error_code problem;
  fs::directory_iterator it(folder, problem);
  std::vector<fs::path> out;
  for (; !problem && it != fs::directory_iterator(); it.increment(problem)) out.push_back(it->path());
  if (problem) return error("{}: {}", folder, problem.message());
  std::sort(out.begin(), out.end());
  return out;
}

Status load_numbered(const std::vector<fs::path>& files, const char* prefix, const std::vector<Session::Port>& ports, std::vector<Tensor>& tensors) {
  std::map<size_t, fs::path> numbered;
  for (const fs::path& file : files)
    if (const auto number = file_number(file, prefix); number && !numbered.emplace(*number, file).second)
      return error("{} and {} are the same tensor", numbered[*number].string(), file.filename().string());
  for (const auto& [number, file] : numbered) {
    if (number != tensors.size()) return error("{}{} is missing", prefix, tensors.size());
    const DType kind = number < ports.size() ? ports[number].type.dtype : DType::undefined;
    const bool is_value = is_container(kind) && file.extension() == ".pb";
    SV_ASSIGN(const Tensor loaded, is_value ? load_value_proto(file.string(), kind) : load_tensor(file.string()));
    if (is_handle(loaded.type())) {
      tensors.push_back(loaded);
      continue;
    }
    SV_ASSIGN(Tensor aligned, loaded.aligned_copy());
    tensors.push_back(std::move(aligned));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> find_test_data_sets(const std::string& folder) {
  SV_ASSIGN(const std::vector<fs::path> files, list(folder));
  std::map<size_t, std::string> sets;
  for (const fs::path& file : files) {
    if (file_number(file, "input_") || file_number(file, "output_")) return std::vector<std::string>{folder};
    if (const auto number = number_after(file.filename().string(), "test_data_set_")) sets[*number] = file.string();
  }
  std::vector<std::string> out;
  for (auto& [number, path] : sets) out.push_back(std::move(path));
  if (out.empty()) return error("{}: holds neither input_0 and output_0 (.pb or .npy) nor folders test_data_set_0, ...", folder);
  return out;
}

Result<TestDataSet> load_test_data_set(const std::string& path, const std::vector<Session::Port>& inputs, const std::vector<Session::Port>& outputs) {
  SV_ASSIGN(const std::vector<fs::path> files, list(path));
  TestDataSet out;
  out.path = path;
  Status status = load_numbered(files, "input_", inputs, out.inputs);
  if (status.ok()) status = load_numbered(files, "output_", outputs, out.outputs);
  if (!status.ok()) return std::move(status).error().in(path);
  if (out.outputs.empty()) return error("{}: there is no output_0 to compare with", path);
  return out;
}

Result<std::vector<Tensor>> load_set_inputs(const std::string& path, const std::vector<Session::Port>& inputs) {
  SV_ASSIGN(const std::vector<fs::path> files, list(path));
  std::vector<Tensor> out;
  Status status = load_numbered(files, "input_", inputs, out);
  if (!status.ok()) return std::move(status).error().in(path);
  return out;
}

}  // namespace svengine::tool
