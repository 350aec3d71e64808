#include "runtime/locked_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace svengine {
namespace {

constexpr time_t kAbandoned = 600;  // seconds without a write; the largest file takes less than that to flush

/// Removes the claim of a process that has ended or stands still.
void remove_abandoned(const std::string& part) {
  struct stat status {};
  if (lstat(part.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (status.st_mtim.tv_sec + kAbandoned < time(nullptr)) ::unlink(part.c_str());
}

}  // namespace

Result<std::optional<LockedFile>> LockedFile::create(const std::string& path) {
  std::string part = path + ".part";
  remove_abandoned(part);
  UniqueFd file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file) return std::optional(LockedFile(std::move(file), path, std::move(part)));
  if (errno == EEXIST) return std::optional<LockedFile>();
  return error("cannot write '{}': {}", part, std::strerror(errno));
}

LockedFile::~LockedFile() {
  if (file_ && still_mine()) ::unlink(part_.c_str());
}

bool LockedFile::still_mine() const {
  struct stat mine {}, there {};
  return fstat(file_.get(), &mine) == 0 && lstat(part_.c_str(), &there) == 0 && mine.st_dev == there.st_dev &&
         mine.st_ino == there.st_ino;
}

Result<bool> LockedFile::finish() {
  if (fsync(file_.get()) != 0) return error("cannot write '{}': {}", part_, std::strerror(errno));
  if (!still_mine()) return false;
  if (::rename(part_.c_str(), path_.c_str()) != 0) return error("cannot write '{}': {}", path_, std::strerror(errno));
  ::close(file_.release());
  return true;
}

}  // namespace svengine
