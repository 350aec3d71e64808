#include "engine/base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "engine/base/memory.h"

namespace svengine {
namespace {

constexpr size_t kBlock = size_t{256} << 10;  // small against a thread's share of any large network, large against a call

}  // namespace

std::string to_string(const Hash128& hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

Hash128 hash_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.high64, h.low64};
}

void HashWork::add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  ranges_.push_back({bytes, std::move(owner), hashes_.size()});
  hashes_.resize(hashes_.size() + ceil_div(bytes.size(), kBlock));
}

void HashWork::hash_block(const Range& range, size_t block) {
  const size_t begin = (block - range.first_block) * kBlock;
  const auto part = range.bytes.subspan(begin, std::min(kBlock, range.bytes.size() - begin));
  hashes_[block] = hash_of(part);
  if (range.owner) release_pages(range.owner, part);
}

void HashWork::run(int thread, int threads) {
  const auto share = [&](int i) { return hashes_.size() * static_cast<size_t>(i) / static_cast<size_t>(threads); };
  size_t block = share(thread);
  const size_t end = share(thread + 1);
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), block,
                                      [](size_t b, const Range& s) { return b < s.first_block; });
  for (size_t i = static_cast<size_t>(after - ranges_.begin()); block < end; ++i)
    for (; block < std::min(end, end_block(i - 1)); ++block) hash_block(ranges_[i - 1], block);
}

Hash128 HashWork::result(size_t index) const {
  const Range& s = ranges_[index];
  std::vector<uint64_t> words{s.bytes.size()};
  for (size_t b = s.first_block; b < end_block(index); ++b) words.insert(words.end(), {hashes_[b].high, hashes_[b].low});
  return hash_of(std::as_bytes(std::span(words)));
}

Hash64::Hash64(uint64_t seed) {
  static_assert(sizeof(XXH64_state_t) <= sizeof state_ && alignof(XXH64_state_t) <= 8);
  XXH64_reset(new (state_.data()) XXH64_state_t, seed);
}

void Hash64::update(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH64_update(reinterpret_cast<XXH64_state_t*>(state_.data()), bytes.data(), bytes.size());
}

uint64_t Hash64::value() const { return XXH64_digest(reinterpret_cast<const XXH64_state_t*>(state_.data())); }

uint64_t hash64(std::span<const std::byte> bytes, uint64_t seed) { return XXH64(bytes.data(), bytes.size(), seed); }

}  // namespace svengine
