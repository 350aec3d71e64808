#include "runtime/checkpoint/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace svengine {
namespace {

/// "process 123 on node4", for a message: printable, and short.
std::string holder_of(int file) {
  std::array<char, 200> text{};
  const ssize_t n = ::pread(file, text.data(), text.size(), 0);
  std::string out;
  for (ssize_t i = 0; i < n; ++i) {
    const char c = text[static_cast<size_t>(i)];
    if (c >= ' ' && c <= '~') out += c;
  }
  return out.empty() ? "another process" : out;
}

std::string myself() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) std::strcpy(host.data(), "this machine");
  return fmt::format("process {} on {}", getpid(), host.data());
}

}  // namespace

Result<DirectoryLock> DirectoryLock::take(const std::string& directory) {
  const std::string path = directory + "/lock";
  // Writable: where flock is a lock at an NFS server, an exclusive one needs that.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) return error("cannot open '{}': {}", path, std::strerror(errno));
  DirectoryLock lock{UniqueFd(file)};
  const int result = repeat_interrupted([&] { return ::flock(file, LOCK_EX | LOCK_NB); });
  if (result != 0 && errno == EWOULDBLOCK)
    return error("{} writes checkpoints to '{}'; give each run a directory of its own, or end the other run first",
                 holder_of(file), directory);
  if (result != 0)
    return error(
        "cannot lock '{}': {}; the file system may have no locks, then make sure that only one run writes here, and switch "
        "locking off",
        path, std::strerror(errno));
  const std::string text = myself() + "\n";
  // Who it is helps a message only, so failing to say it is no failure.
  [[maybe_unused]] const bool said = ::ftruncate(file, 0) == 0 && ::pwrite(file, text.data(), text.size(), 0) > 0;
  return lock;
}

}  // namespace svengine
