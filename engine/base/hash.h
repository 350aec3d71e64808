// Hashes by xxHash (Yann Collet): XXH3 with 128 bits, fast enough to keep up with memory, and XXH64 for bytes that come in pieces and
// whose hash is kept in files of ours.
//
// They tell accidents from originals: other bytes have another hash, but for one chance in 2^128 or 2^64. They do not withstand
// somebody who makes bytes for a wanted hash.
#pragma once
#include <array>
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

/// Hashes of long ranges of memory by many threads: every range is cut into blocks, all blocks are shared out, and the hash
/// of a range is that of its blocks' hashes. The same for any number of threads; not the same as hash_of().
class HashWork {
 public:
  /// `owner`, when given: the bytes are a part of this mapped file, whose pages are given back behind every block.
  void add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner = nullptr);

  /// Called by every one of `threads` threads at once, when all ranges have been added.
  void run(int thread, int threads);

  /// Of the range added as number `index`, when all threads have run.
  Hash128 result(size_t index) const;

 private:
  struct Range {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
    size_t first_block;
  };
  size_t end_block(size_t index) const { return index + 1 < ranges_.size() ? ranges_[index + 1].first_block : hashes_.size(); }
  void hash_block(const Range& range, size_t block);

  std::vector<Range> ranges_;
  std::vector<Hash128> hashes_;  // of blocks
};

/// XXH64 of what update() was given, in any pieces. Not thread-safe.
class Hash64 {
 public:
  explicit Hash64(uint64_t seed = 0);
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  /// Of everything so far; more may follow.
  uint64_t value() const;

 private:
  alignas(8) std::array<std::byte, 88> state_;  // xxHash's, whose header stays in hash.cc
};

/// Of one piece.
uint64_t hash64(std::span<const std::byte> bytes, uint64_t seed = 0);
inline uint64_t hash64(std::string_view text, uint64_t seed = 0) { return hash64(std::as_bytes(std::span(text)), seed); }

}  // namespace svengine
