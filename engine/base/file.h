// File descriptors that are closed, writes that are whole, and files that are there completely or not at all.
#pragma once
#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/status.h"

namespace svengine {

/// Owns a file descriptor; negative: none.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int file) : file_(file) {}
  UniqueFd(UniqueFd&& other) noexcept : file_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~UniqueFd();

  int get() const { return file_; }
  explicit operator bool() const { return file_ >= 0; }
  /// Gives it up: the caller closes it.
  int release() { return std::exchange(file_, -1); }

 private:
  int file_ = -1;
};

/// Repeats a system call that a signal interrupts.
template <class Call>
auto repeat_interrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Writes all of it at the file's position. The error is the system's reason alone: the caller knows the name.
Status write_all(int file, std::span<const std::byte> bytes);
inline Status write_all(int file, std::string_view text) { return write_all(file, std::as_bytes(std::span(text))); }

/// Reads from the file's position until `out` is full or the file ends; how many bytes that were. Errors as those of write_all().
Result<size_t> read_full(int file, std::span<std::byte> out);

/// Writes go to a new file beside `path`, which takes its name in finish(), when they are on the disk; before that, and after any
/// failure, what was at `path` is untouched (it may be mapped right now: a model that is exported over itself). Without finish()
/// the new file is removed. Refuses to replace what is not a regular file. Not thread-safe.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  Status finish();

 private:
  AtomicFile(UniqueFd file, std::string path, std::string temporary)
      : file_(std::move(file)), path_(std::move(path)), temporary_(std::move(temporary)) {}
  Error failed() const;

  UniqueFd file_;
  std::string path_, temporary_;
};

}  // namespace svengine
