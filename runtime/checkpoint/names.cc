#include "runtime/checkpoint/names.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace svengine {
namespace {

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kTemporary = ".tmp";

}  // namespace

std::string checkpoint_file_name(int64_t generation, CheckpointPart part) {
  return fmt::format("{}{:08}.{}", kPrefix, generation, part == CheckpointPart::data ? "data" : "manifest");
}

std::optional<CheckpointFile> parse_checkpoint_file_name(const std::string& name) {
  std::string_view rest = name;
  CheckpointFile file{.name = name};
  if (rest.ends_with(kTemporary)) {
    file.temporary = true;
    rest.remove_suffix(kTemporary.size());
  }
  const std::string_view permanent = rest;
  if (!rest.starts_with(kPrefix)) return std::nullopt;
  rest.remove_prefix(kPrefix.size());
  if (rest.ends_with(".manifest")) file.part = CheckpointPart::manifest;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), file.generation);
  if (problem != std::errc() || file.generation < 1 || checkpoint_file_name(file.generation, file.part) != permanent)
    return std::nullopt;
  return file;
}

Result<std::vector<CheckpointFile>> list_checkpoint_files(const std::string& directory) {
  std::vector<CheckpointFile> files;
  std::error_code failed;
  std::filesystem::directory_iterator it(directory, failed);
  if (failed == std::errc::no_such_file_or_directory) return files;
  for (; !failed && it != std::filesystem::directory_iterator(); it.increment(failed))
    if (auto file = parse_checkpoint_file_name(it->path().filename().native())) files.push_back(std::move(*file));
  if (failed) return error("cannot list '{}': {}", directory, failed.message());
  std::ranges::sort(files, {}, [](const CheckpointFile& f) { return std::pair(f.generation, f.name); });
  return files;
}

}  // namespace svengine
