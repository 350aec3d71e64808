// A file that is written by one process at a time and appears complete.
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "engine/base/file.h"

namespace svengine {

/// Written as <path>.part, whose existence tells others that somebody is at it; finish() gives it its name. Removed at the end of
/// its life otherwise. What a process leaves that was killed counts for nothing 10 minutes after the last write.
class LockedFile {
 public:
  /// Nothing: somebody else is writing it.
  static Result<std::optional<LockedFile>> create(const std::string& path);
  LockedFile(LockedFile&& other) noexcept = default;
  LockedFile& operator=(LockedFile&&) = delete;
  ~LockedFile();

  /// To write to. Errors are the caller's to see.
  int descriptor() const { return file_.get(); }

  /// Flushes the file to the disk, then replaces `path` by it. False, and nothing is replaced: this process stood still for so
  /// long that another one has taken over.
  Result<bool> finish();

 private:
  LockedFile(UniqueFd file, std::string path, std::string part)
      : file_(std::move(file)), path_(std::move(path)), part_(std::move(part)) {}
  bool still_mine() const;

  UniqueFd file_;
  std::string path_, part_;
};

}  // namespace svengine
