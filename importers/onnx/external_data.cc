#include "importers/onnx/external_data.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "engine/base/file.h"
#include "importers/io/names.h"

namespace svengine::onnx {
namespace {

Result<std::vector<std::string>> split_location(std::string_view location) {
  const std::string shown = printable(location);
  if (location.empty()) return error("external data has an empty location; it must name a file in the model's folder");
  if (location.size() > kMaxName) return error("the location of external data is {} bytes long", location.size());
  if (location.find('\0') != location.npos) return error("the location '{}' of external data has a NUL in it", shown);
  if (location[0] == '/') return error("external data at '{}': an absolute path; it must lie in the model's folder", shown);
  std::vector<std::string> parts;
  while (!location.empty()) {
    const size_t slash = std::min(location.find('/'), location.size());
    std::string_view part = location.substr(0, slash);
    location.remove_prefix(std::min(slash + 1, location.size()));
    if (part == "..") return error("external data at '{}': '..' leads out of the model's folder", shown);
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  if (parts.empty()) return error("external data at '{}' names no file", shown);
  return parts;
}

/// A non-negative decimal number and nothing else.
std::optional<size_t> parse_size(std::string_view text) {
  size_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Status check_location(std::string_view location) {
  SV_TRY(split_location(location));
  return {};
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::open(std::string_view location) {
  if (const auto known = files_.find(location); known != files_.end()) return known->second;
  SV_ASSIGN(const std::vector<std::string> parts, split_location(location));
  const std::string shown = printable(location);
  UniqueFd at(::open(folder_.empty() ? "." : folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (at.get() < 0) return error("cannot open the model's folder '{}': {}", folder_, std::strerror(errno));
  for (size_t i = 0; i < parts.size(); ++i) {
    const int kind = i + 1 < parts.size() ? O_DIRECTORY : O_NONBLOCK;
    UniqueFd next(::openat(at.get(), parts[i].c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | kind));
    const int reason = errno;
    if (next.get() < 0) {
      struct stat status {};
      const bool link = fstatat(at.get(), parts[i].c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
      if (link)
        return error("external data at '{}': '{}' is a symbolic link, which could lead out of the model's folder",
                     shown, printable(parts[i]));
      return error("cannot open external data at '{}' in the model's folder: {}", shown, std::strerror(reason));
    }
    at = std::move(next);
  }
  struct stat status {};
  if (fstat(at.get(), &status) != 0) return error("cannot read the state of external data at '{}'", shown);
  if (S_ISREG(status.st_mode) && status.st_nlink > 1)
    return error("external data at '{}' has {} hard links, so it may belong to somebody else; make a copy", shown,
                 status.st_nlink);
  SV_ASSIGN(auto mapped, MappedFile::map(at.get(), folder_.empty() ? shown : folder_ + '/' + shown));
  files_.emplace(location, mapped);
  return mapped;
}

Status ExternalFiles::charge(size_t bytes) {
  constexpr size_t kMost = size_t{1} << 30;
  if (bytes > kMost - charged_) return unimplemented("more than {} MiB of bool tensors in external data are not supported", kMost >> 20);
  charged_ += bytes;
  return {};
}

Result<ExternalFiles::Part> ExternalFiles::find(const std::vector<std::pair<std::string_view, std::string_view>>& entries, size_t size) {
  std::optional<std::string_view> location;
  size_t offset = 0;
  std::optional<size_t> length;
  for (const auto& [key, value] : entries) {
    if (key == "location") {
      if (location) return error("external data has two locations");
      location = value;
    } else if (key == "offset" || key == "length") {
      const std::optional<size_t> number = parse_size(value);
      if (!number) return error("the {} '{}' of external data is not a number of bytes", key, printable(value));
      if (key == "offset") offset = *number;
      else length = number;
    }
  }
  if (!location) return error("external data has no location");
  if (length && *length != size)
    return error("external data at '{}' is {} bytes long, the tensor needs {}", printable(*location), *length, size);
  SV_ASSIGN(auto file, open(*location));
  const Bytes all = file->bytes();
  if (offset > all.size() || size > all.size() - offset)
    return error("external data at '{}' is too short: {} bytes from byte {} on are wanted, the file has {}", printable(*location),
                 size, offset, all.size());
  return Part{all.subspan(offset, size), std::move(file)};
}

}  // namespace svengine::onnx
