// Random numbers that are a pure function of where they are used.
//
// A RandomStream has no state that advances: number i of a stream is the same whoever asks for it, in whatever order and on
// whatever thread. So dropout, shuffling and initial weights do not depend on the number of threads, and a resumed run
// continues bitwise without saving anything but its seed. Streams form a tree:
//
//     RandomStream(seed) -- at("weights") -- at("conv1.weight")      one stream for each tensor
//                        -- at("shuffle") -- at(epoch)               one for each epoch
//
// Values are made of IEEE operations in a stated order only (no libm, no fused multiply-add), so they are also the same bits
// on x86-64 and on A64FX.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/philox.h"

namespace svengine {

/// Copies are the same stream. All functions are pure, so any number of threads may use one.
class RandomStream {
 public:
  explicit RandomStream(uint64_t seed) : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)} {}

  /// The stream of that number, or name (its XXH64), below this one. No two of a program's streams are alike, but by accident of
  /// 64 bits.
  RandomStream at(uint64_t id) const;
  RandomStream at(std::string_view name) const;

  /// Block `index` of four words; `draw` numbers the attempts of what rejects some.
  PhiloxCounter block(uint64_t index, uint32_t draw = 0) const {
    return philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), draw, 0}, key_);
  }

  /// Number i, evenly in [0, 1): a multiple of 2^-24. Equals what fill_uniform(.., 0, 1) puts there.
  float uniform(uint64_t i) const;

  /// Number i, evenly among 0 .. bound-1 without bias (Lemire 2019, doi 10.1145/3230636). bound >= 1.
  uint64_t below(uint64_t bound, uint64_t i) const;

 private:
  explicit RandomStream(PhiloxKey key) : key_(key) {}
  PhiloxKey key_;
};

/// out[i] = number first + i of the stream, evenly in [low, high): never high itself, unless low == high. Any cut of a range
/// into calls gives the same values. low <= high, both finite, and high - low no more than the largest float.
void fill_uniform(const RandomStream& stream, uint64_t first, float low, float high, std::span<float> out);

/// out[i] = mean + deviation * (number first + i of the stream, normally distributed): Box and Muller's transform of 32-bit
/// uniform numbers, computed in double; no value is farther than 6.67 deviations out. Any cut gives the same values.
void fill_normal(const RandomStream& stream, uint64_t first, float mean, float deviation, std::span<float> out);

/// The same distribution without what lies outside [low, high]: by rejection, so exactly of that shape. deviation > 0 and
/// low <= mean <= high with low < high: the mean outside would make the attempts long, and no initialisation wants it.
void fill_truncated_normal(const RandomStream& stream, uint64_t first, float mean, float deviation, float low, float high,
                           std::span<float> out);

/// 0 .. count-1 in an order in which each of the count! is equally likely, as far as 64 bits of key reach: Fisher and Yates.
std::vector<int64_t> permutation(const RandomStream& stream, int64_t count);

}  // namespace svengine
