#include "runtime/checkpoint/file_system.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "engine/base/file.h"

namespace svengine {
namespace {

Error failed(const char* what, const std::string& path) { return error("cannot {} '{}': {}", what, path, std::strerror(errno)); }

class RealFileSystem final : public FileSystem {
 public:
  Result<int> create(const std::string& path) override {
    const int file =
        repeat_interrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666); });
    if (file < 0) return failed("create", path);
    return file;
  }

  Status write(int file, const std::string& path, std::span<const std::byte> bytes) override {
    Status written = write_all(file, bytes);
    return written.ok() ? Status() : Status(std::move(written).error().in(fmt::format("cannot write '{}'", path)));
  }

  Status sync(int file, const std::string& path) override {
    if (repeat_interrupted([&] { return ::fsync(file); }) != 0) return failed("sync", path);
    return {};
  }

  Status close(int file, const std::string& path) override {
    // Linux closes even when interrupted; other errors are a network file system's late news of lost data.
    if (::close(file) != 0 && errno != EINTR) return failed("close", path);
    return {};
  }

  Status rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return failed("rename a file to", to);
    return {};
  }

  Status remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed("remove", path);
    return {};
  }

  Status sync_directory(const std::string& path) override {
    const UniqueFd directory(repeat_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (!directory) return failed("open", path);
    const int result = repeat_interrupted([&] { return ::fsync(directory.get()); });
    // Some file systems cannot sync a directory (EINVAL), and then write names in order by themselves.
    if (result != 0 && errno != EINVAL) return failed("sync", path);
    return {};
  }
};

}  // namespace

FileSystem& real_file_system() {
  static RealFileSystem system;
  return system;
}

Result<DurableFile> DurableFile::create(FileSystem& system, const std::string& path) {
  SV_ASSIGN(const int file, system.create(path));
  return DurableFile(system, file, path);
}

DurableFile::DurableFile(DurableFile&& other) noexcept
    : system_(other.system_), file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}

DurableFile::~DurableFile() {
  if (file_ < 0) return;
  [[maybe_unused]] const Status ignored = system_->close(file_, path_);  // it is being given up
}

Status DurableFile::finish() {
  SV_TRY(system_->sync(file_, path_));
  return system_->close(std::exchange(file_, -1), path_);
}

}  // namespace svengine
