#include "runtime/numa_copies.h"

#include <cstring>

namespace svengine {

std::shared_ptr<const std::byte> NumaCopies::of(const std::byte* original, int64_t bytes, const std::shared_ptr<const void>& owner) {
  std::weak_ptr<std::byte>& known = copies_[{original, bytes}];
  if (std::shared_ptr<const std::byte> copy = known.lock()) return copy;
  std::shared_ptr<std::byte> copy = allocate_aligned(static_cast<size_t>(bytes));
  if (copy) pending_.push_back({original, copy, bytes, owner});
  known = copy;
  return copy;
}

void NumaCopies::copy(int thread, int threads) const {
  for (const Piece& p : pending_) {
    const int64_t begin = p.bytes * thread / threads, end = p.bytes * (thread + 1) / threads;
    if (begin < end) std::memcpy(p.copy.get() + begin, p.original + begin, static_cast<size_t>(end - begin));
  }
}

void NumaCopies::end_copy() {
  pending_.clear();
  std::erase_if(copies_, [](const auto& entry) { return entry.second.expired(); });
}

}  // namespace svengine
