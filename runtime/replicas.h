// One core group's own copies of a session's constants, in memory of its own node.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "engine/base/memory.h"
#include "engine/base/status.h"

namespace svengine {

/// Used by one thread at a time, except copy().
class Replicas {
 public:
  /// The address of the copy of `bytes` at `original`, shared by all plans of the group; its content is there after the next
  /// copy(). Null when memory is out. The original must outlive the replicas.
  const std::byte* of(const std::byte* original, int64_t bytes);

  /// Called by every one of the group's `threads` threads at once: each fills, and so first touches, its share.
  void copy(int thread, int threads) const;
  void end_copy() { pending_.clear(); }

 private:
  struct Piece {
    const std::byte* original;
    std::byte* copy;
    int64_t bytes;
  };
  std::map<std::pair<const std::byte*, int64_t>, std::shared_ptr<std::byte>> copies_;
  std::vector<Piece> pending_;
};

}  // namespace svengine
