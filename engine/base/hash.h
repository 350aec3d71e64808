// Hashes of memory: 128 bits, fast enough to keep up with it (XXH3).
//
// They tell accidents from originals: other bytes have another hash, but for one chance in 2^128. They do not withstand
// somebody who makes bytes for a wanted hash.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace svengine {

struct Hash128 {
  uint64_t high = 0, low = 0;
  auto operator<=>(const Hash128&) const = default;
};

/// 32 hexadecimal digits.
std::string to_string(const Hash128& hash);

Hash128 hash_of(std::span<const std::byte> bytes);
inline Hash128 hash_of(std::string_view text) { return hash_of(std::as_bytes(std::span(text))); }

/// Hashes of long stretches of memory by many threads: every stretch is cut into blocks, all blocks are shared out, and the hash
/// of a stretch is that of its blocks' hashes. The same for any number of threads; not the same as hash_of().
class HashWork {
 public:
  /// `owner`, when given: the bytes are a part of this mapped file, whose pages are given back behind every block.
  void add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner = nullptr);

  /// Called by every one of `threads` threads at once, when all stretches have been added.
  void run(int thread, int threads);

  /// Of the stretch added as number `index`, when all threads have run.
  Hash128 result(size_t index) const;

 private:
  struct Stretch {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
    size_t first_block;
  };
  size_t end_block(size_t index) const { return index + 1 < stretches_.size() ? stretches_[index + 1].first_block : hashes_.size(); }
  void hash_block(const Stretch& stretch, size_t block);

  std::vector<Stretch> stretches_;
  std::vector<Hash128> hashes_;  // of blocks
};

}  // namespace svengine
