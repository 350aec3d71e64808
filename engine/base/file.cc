#include "engine/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace svengine {
namespace {

constexpr size_t kMostAtOnce = size_t{1} << 30;  // Linux reads and writes less than 2 GiB in one call

}  // namespace

UniqueFd::~UniqueFd() {
  if (file_ >= 0) ::close(file_);
}

Status write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = repeat_interrupted([&] { return ::write(file, bytes.data(), std::min(bytes.size(), kMostAtOnce)); });
    if (n < 0) return error("{}", std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return {};
}

Result<size_t> read_full(int file, std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t n =
        repeat_interrupted([&] { return ::read(file, out.data() + done, std::min(out.size() - done, kMostAtOnce)); });
    if (n < 0) return error("{}", std::strerror(errno));
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

Error AtomicFile::failed() const { return error("cannot write '{}': {}", path_, std::strerror(errno)); }

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return error("cannot write '{}': it is not a regular file", path);
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    std::string temporary = fmt::format("{}.{}.{}.part", path, getpid(), i);
    UniqueFd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file) return AtomicFile(std::move(file), path, std::move(temporary));
    if (errno != EEXIST) return error("cannot write '{}': {}", path, std::strerror(errno));
  }
  return error("cannot write '{}': too many unfinished files of that name beside it", path);
}

AtomicFile::~AtomicFile() {
  if (file_) ::unlink(temporary_.c_str());
}

Status AtomicFile::write(std::span<const std::byte> bytes) {
  Status written = write_all(file_.get(), bytes);
  return written.ok() ? Status() : Status(std::move(written).error().in(fmt::format("cannot write '{}'", path_)));
}

Status AtomicFile::finish() {
  // Without the sync a power cut could leave the name without the content.
  if (repeat_interrupted([&] { return ::fsync(file_.get()); }) != 0) return failed();
  const int file = file_.release();
  if (::close(file) == 0 && ::rename(temporary_.c_str(), path_.c_str()) == 0) return {};
  Error problem = failed();
  ::unlink(temporary_.c_str());
  return problem;
}

}  // namespace svengine
