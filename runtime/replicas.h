// One core group's own copies of a session's constants, in memory of its own node.
#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/memory.h"
#include "engine/base/status.h"

namespace svengine {

/// Used by one thread at a time, except copy().
class Replicas {
 public:
  /// The address of the copy of `bytes` at `original`, shared by all plans of the group; its content is there after the next
  /// copy(). Null when memory is out. The original must outlive the replicas: see keep().
  const std::byte* of(const std::byte* original, int64_t bytes);

  /// Keeps alive whoever owns originals. A plan's own tables are freed with it otherwise, when the session drops it for newer
  /// ones, and the next plan's table at the same address would be taken for one that is copied already.
  void keep(std::shared_ptr<const void> owner) { owners_.push_back(std::move(owner)); }

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
  std::vector<std::shared_ptr<const void>> owners_;
};

}  // namespace svengine
