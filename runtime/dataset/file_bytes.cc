#include "runtime/dataset/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/file.h"
#include "importers/io/names.h"

namespace svengine {
Result<std::vector<std::byte>> read_file(const std::string& path, size_t most) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // opening a FIFO must not wait for a writer
  const std::string name = printable(path);
  if (!file) return error("cannot open '{}': {}", name, std::strerror(errno));
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return error("cannot read the state of '{}': {}", name, std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return error("'{}' is {}, not a regular file", name, S_ISDIR(status.st_mode) ? "a directory" : "a device or pipe");
  const auto size = static_cast<size_t>(status.st_size);
  if (size > most) return error("'{}' has {} bytes; at most {} are read", name, size, most);
  std::vector<std::byte> bytes(size);
  Result<size_t> read = read_full(file.get(), bytes);
  if (!read.ok()) return error("cannot read '{}': {}", name, read.error().message());
  if (*read < size) return error("'{}' was shortened while it was read", name);
  return bytes;
}

Result<std::vector<std::string>> read_lines(const std::string& path, size_t most) {
  SV_ASSIGN(const std::vector<std::byte> bytes, read_file(path, most));
  std::vector<std::string> lines;
  const char* at = reinterpret_cast<const char*>(bytes.data());
  const char* const end = at + bytes.size();
  while (at < end) {
    const char* const stop = std::find(at, end, '\n');
    lines.emplace_back(at, stop != at && stop[-1] == '\r' ? stop - 1 : stop);
    at = stop == end ? end : stop + 1;
  }
  return lines;
}

}  // namespace svengine
