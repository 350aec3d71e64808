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
class NumaCopies {
 public:
  /// The copy of `bytes` at `original`, shared by all plans of the group; its content is there after the next copy(). Null when memory
  /// is out. `owner` keeps the original alive, and whoever holds the copy must hold the owner as well: once nobody has the copy,
  /// the address may belong to another constant.
  std::shared_ptr<const std::byte> of(const std::byte* original, int64_t bytes, const std::shared_ptr<const void>& owner);

  /// Called by every one of the group's `threads` threads at once: each fills, and so first touches, its share.
  void copy(int thread, int threads) const;
  void end_copy();

 private:
  struct Piece {
    const std::byte* original;
    std::shared_ptr<std::byte> copy;
    int64_t bytes;
    std::shared_ptr<const void> owner;
  };
  std::map<std::pair<const std::byte*, int64_t>, std::weak_ptr<std::byte>> copies_;
  std::vector<Piece> pending_;
};

}  // namespace svengine
