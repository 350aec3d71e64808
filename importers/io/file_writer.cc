#include "importers/io/file_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace svengine {

Result<FileWriter> FileWriter::create(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return error("cannot write '{}': it is not a regular file", path);
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    std::string temporary = fmt::format("{}.{}.{}.part", path, getpid(), i);
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) return FileWriter(file, path, std::move(temporary));
    if (errno != EEXIST) return error("cannot write '{}': {}", path, std::strerror(errno));
  }
  return error("cannot write '{}': too many unfinished files of that name beside it", path);
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)), temporary_(std::move(other.temporary_)) {}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

Status FileWriter::write(std::span<const std::byte> bytes) {
  constexpr size_t kMostAtOnce = size_t{1} << 30;  // Linux writes less than 2 GiB in one call
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_, bytes.data(), std::min(bytes.size(), kMostAtOnce));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error("cannot write '{}': {}", path_, std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return {};
}

Status FileWriter::finish() {
  const int file = std::exchange(file_, -1);
  const bool closed = ::close(file) == 0;
  if (closed && ::rename(temporary_.c_str(), path_.c_str()) == 0) return {};
  const int reason = errno;
  ::unlink(temporary_.c_str());
  return error("cannot write '{}': {}", path_, std::strerror(reason));
}

}  // namespace svengine
