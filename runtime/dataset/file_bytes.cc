#include "runtime/dataset/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "importers/io/names.h"

namespace svengine {
namespace {

class File {
 public:
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  explicit File(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (file_ >= 0) ::close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return file_; }

 private:
  int file_;
};

}  // namespace

Result<std::vector<std::byte>> read_file(const std::string& path, size_t most) {
  const File file(path);
  const std::string name = printable(path);
  if (file.descriptor() < 0) return error("cannot open '{}': {}", name, std::strerror(errno));
  struct stat status{};
  if (fstat(file.descriptor(), &status) != 0) return error("cannot read the state of '{}': {}", name, std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return error("'{}' is {}, not a regular file", name, S_ISDIR(status.st_mode) ? "a directory" : "a device or pipe");
  const auto size = static_cast<size_t>(status.st_size);
  if (size > most) return error("'{}' has {} bytes; at most {} are read", name, size, most);
  std::vector<std::byte> bytes(size);
  constexpr size_t kMostAtOnce = size_t{1} << 30;  // Linux reads less than 2 GiB in one call
  for (size_t done = 0; done < size;) {
    const ssize_t n = ::read(file.descriptor(), bytes.data() + done, std::min(size - done, kMostAtOnce));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error("cannot read '{}': {}", name, std::strerror(errno));
    if (n == 0) return error("'{}' was shortened while it was read", name);
    done += static_cast<size_t>(n);
  }
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
