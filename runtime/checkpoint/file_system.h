// The system calls that make a checkpoint durable, behind an interface so that tests can let each of them fail, or end the world.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace svengine {

/// Errors name the path and the system's reason. Calls that a signal interrupts are repeated.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  /// Opens a new or emptied file for writing.
  virtual Result<int> create(const std::string& path) = 0;
  /// All of it, or an error.
  virtual Status write(int file, const std::string& path, std::span<const std::byte> bytes) = 0;
  /// Returns when the content is on the disk.
  virtual Status sync(int file, const std::string& path) = 0;
  virtual Status close(int file, const std::string& path) = 0;
  /// Replaces `to`.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& path) = 0;
  /// Returns when names created, renamed and removed in the directory are on the disk.
  virtual Status sync_directory(const std::string& path) = 0;
};

/// The system's own. Thread-safe.
FileSystem& real_file_system();

/// Writes a whole file and waits until it is on the disk. Whatever fails, nothing is left open; the file may be left behind.
class DurableFile {
 public:
  static Result<DurableFile> create(FileSystem& system, const std::string& path);
  DurableFile(DurableFile&& other) noexcept;
  DurableFile& operator=(DurableFile&&) = delete;
  ~DurableFile();

  Status write(std::span<const std::byte> bytes) { return system_->write(file_, path_, bytes); }
  /// Syncs and closes.
  Status finish();

 private:
  DurableFile(FileSystem& system, int file, std::string path) : system_(&system), file_(file), path_(std::move(path)) {}
  FileSystem* system_;
  int file_;
  std::string path_;
};

}  // namespace svengine
