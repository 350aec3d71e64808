#include "runtime/replicas.h"

#include <cstring>

namespace svengine {

const std::byte* Replicas::of(const std::byte* original, int64_t bytes) {
  std::shared_ptr<std::byte>& copy = copies_[{original, bytes}];
  if (copy) return copy.get();
  copy = allocate_aligned(static_cast<size_t>(bytes));
  if (copy) pending_.push_back({original, copy.get(), bytes});
  return copy.get();
}

void Replicas::copy(int thread, int threads) const {
  for (const Piece& p : pending_) {
    const int64_t begin = p.bytes * thread / threads, end = p.bytes * (thread + 1) / threads;
    if (begin < end) std::memcpy(p.copy + begin, p.original + begin, static_cast<size_t>(end - begin));
  }
}

}  // namespace svengine
