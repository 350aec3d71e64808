// One writer for a directory.
#pragma once
#include <string>

#include "engine/base/file.h"

namespace svengine {

/// Holds flock(2) on <directory>/lock. The kernel drops the lock when its holder ends, however it ends, so there are no stale
/// locks, and the file itself stays (removing it would let two processes lock two files of that name). It holds who has it,
/// for messages only.
///
/// Network file systems: NFS clients on Linux turn flock into a lock at the server, valid between nodes. Lustre (and so FEFS)
/// does so when mounted with -o flock; without, the call fails, and so does take(): the caller then decides to go without.
class DirectoryLock {
 public:
  /// Never waits.
  static Result<DirectoryLock> take(const std::string& directory);

 private:
  explicit DirectoryLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace svengine
