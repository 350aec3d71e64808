#include "validate/compare/recorded.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include "engine/base/file.h"
#include "engine/base/narrow_float.h"
#include "importers/io/names.h"
#include "importers/npy/npy.h"
#include "importers/npy/npz.h"
#include "importers/onnx/tensor_file.h"
#include "importers/tensor/load_tensor.h"

namespace svengine::validate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "index.tsv";
constexpr size_t kMostIndex = size_t{64} << 20;

/// As file names are made of names (tools/support/tensor_files.h and others).
std::string plain_name(const std::string& name) {
  std::string out = name;
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '_';
  return out;
}

std::optional<size_t> number_behind(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  size_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// The value that a file is of: by name, by its plain name, by number. Empty: of none.
std::string value_of_file(const std::string& stem, const std::map<std::string, std::string>& by_plain, const Graph& model) {
  if (const auto found = by_plain.find(stem); found != by_plain.end()) return found->second;
  if (const auto i = number_behind(stem, "input_"); i && *i < model.inputs().size()) return model.inputs()[*i]->name();
  if (const auto i = number_behind(stem, "output_"); i && *i < model.outputs().size()) return model.outputs()[*i]->name();
  return {};
}

}  // namespace

Result<std::unique_ptr<Recorded>> Recorded::open(const std::string& path, const Graph& model) {
  auto out = std::make_unique<Recorded>();
  model.for_each_value([&](Value& v) {
    if (is_container(v.type.dtype)) out->kinds_[v.name()] = v.type.dtype;
  });
  std::error_code problem;
  if (fs::is_directory(path, problem)) {
    SV_TRY(out->open_folder(path, model));
  } else if (fs::path(path).extension() == ".npz") {
    SV_ASSIGN(const std::vector<std::string> names, npz_names(path));
    out->archive_ = path;
    for (const std::string& name : names) out->files_[name] = name;
  } else {
    return error("{}: recorded values are a folder or an .npz", printable(path));
  }
  bool some = false;
  model.for_each_value([&](Value& v) { some = some || (!v.is_constant() && out->has(v.name())); });
  if (!some) return error("{}: holds none of the model's values", printable(path));
  return out;
}

Status Recorded::read_index(const std::string& folder, const std::string& path) {
  std::error_code problem;
  if (fs::file_size(path, problem) > kMostIndex || problem)
    return error("{}: is not an index of recorded values", printable(path));
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const size_t tab = line.find('\t');
    const std::string name = tab == line.npos ? std::string() : line.substr(0, tab);
    if (name.empty() || plain_name(name) != name || name[0] == '.')
      return error("{}: '{}' is not a file of this folder, a tab and a name", printable(path), printable(line));
    files_[line.substr(tab + 1)] = (fs::path(folder) / name).string();
  }
  return {};
}

Status Recorded::open_folder(const std::string& path, const Graph& model) {
  const fs::path index = fs::path(path) / kIndex;
  std::error_code problem;
  if (fs::exists(index, problem)) return read_index(path, index.string());
  std::map<std::string, std::string> by_plain;
  model.for_each_value([&](Value& v) {
    if (!v.is_constant()) by_plain[plain_name(v.name())] = v.name();
  });
  fs::directory_iterator it(path, problem);
  for (; !problem && it != fs::directory_iterator(); it.increment(problem)) {
    const fs::path& file = it->path();
    if (file.extension() != ".npy" && file.extension() != ".pb") continue;
    const std::string name = value_of_file(file.stem().string(), by_plain, model);
    if (!name.empty()) files_[name] = file.string();
  }
  if (problem) return error("{}: {}", printable(path), problem.message());
  return {};
}

Result<Tensor> Recorded::value(const std::string& name) {
  if (const auto held = held_.find(name); held != held_.end()) return held->second;
  const auto file = files_.find(name);
  if (file == files_.end()) return error("no value '{}' was recorded", printable(name));
  const auto kind = kinds_.find(name);  // a .pb does not say that it holds a sequence
  const bool is_value = kind != kinds_.end() && file->second.ends_with(".pb");
  Result<Tensor> loaded = !archive_.empty() ? load_npz(archive_, file->second)
                          : is_value        ? load_value_proto(file->second, kind->second)
                                            : load_tensor(file->second);
  if (!loaded.ok()) return std::move(loaded).error().in(fmt::format("recorded value '{}'", printable(name)));
  if (!is_handle(loaded->type()) && !loaded->is_aligned()) {
    SV_ASSIGN(loaded, loaded->aligned_copy());
  }
  held_[name] = *loaded;
  return loaded;
}

Result<std::unique_ptr<Recorder>> Recorder::create(const std::string& folder, int64_t most_bytes) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return error("{}: {}", printable(folder), problem.message());
  fs::remove(fs::path(folder) / kIndex, problem);  // an older record is complete no longer
  std::unique_ptr<Recorder> out(new Recorder);
  out->folder_ = folder;
  out->most_bytes_ = most_bytes;
  return out;
}

Status Recorder::add_handle(const std::string& name, const Tensor& value) {
  const std::string bytes = value_proto_bytes(value, name);
  if (static_cast<int64_t>(bytes.size()) > most_bytes_ - bytes_) {
    ++left_out_;
    return {};
  }
  const std::string file = fmt::format("value_{:05}.pb", written_++);
  SV_TRY(save_value_proto(value, name, (fs::path(folder_) / file).string()));
  index_ += fmt::format("{}\t{}\n", file, name);
  bytes_ += static_cast<int64_t>(bytes.size());
  return {};
}

Status Recorder::add(const std::string& name, const Tensor& value, const SessionOptions& options) {
  if (is_handle(value.type())) return add_handle(name, value);
  const bool has_numpy_type =
      !is_float(value.type()) || value.type() == DType::f16 || value.type() == DType::f32 || value.type() == DType::f64;
  const int64_t bytes = value.count() * static_cast<int64_t>(has_numpy_type ? size_of(value.type()) : sizeof(float));
  const bool is_packed = packed_bits(value.type()) < 8 && !is_float(value.type());  // integers of 4 and 2 bits
  if (is_packed || bytes_ + bytes > most_bytes_) {
    ++left_out_;
    return {};
  }
  Tensor written = value;
  if (!has_numpy_type) {
    SV_ASSIGN(written, convert(value, DType::f32, options));
  }
  const std::string file = fmt::format("value_{:05}.npy", written_++);
  SV_TRY(save_npy(written, (fs::path(folder_) / file).string()));
  index_ += fmt::format("{}\t{}\n", file, name);
  bytes_ += bytes;
  return {};
}

Status Recorder::finish() {
  SV_ASSIGN(AtomicFile file, AtomicFile::create((fs::path(folder_) / kIndex).string()));
  SV_TRY(file.write(index_));
  return file.finish();
}

}  // namespace svengine::validate
