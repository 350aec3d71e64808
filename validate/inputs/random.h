// Random numbers that are a function of seed, stream and position, and of nothing else: the same on every machine, in any
// order, in any number of threads. Only integer arithmetic and exact conversions; no library function whose last bit differs.
#pragma once
#include <cstdint>

namespace svengine::validate {

/// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
inline uint64_t mix_bits(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Random {
 public:
  Random(uint64_t seed, uint64_t stream) : key_(mix_bits(mix_bits(seed) ^ stream)) {}

  uint64_t bits(uint64_t i) const { return mix_bits(key_ + i * 0x9e3779b97f4a7c15); }

  /// In [0, 1): a multiple of 2^-24.
  float uniform(uint64_t i) const { return static_cast<float>(bits(i) >> 40) * 0x1p-24f; }

  /// In [0, count); count > 0. The bias is below count / 2^64.
  int64_t below(uint64_t i, int64_t count) const {
    return static_cast<int64_t>((static_cast<unsigned __int128>(bits(i)) * static_cast<uint64_t>(count)) >> 64);
  }

  /// Mean 0, variance 1: the sum of four uniform numbers of 16 bits, so between -3.47 and 3.47.
  float normal(uint64_t i) const {
    const uint64_t b = bits(i);
    const auto sum = static_cast<int32_t>((b & 0xffff) + (b >> 16 & 0xffff) + (b >> 32 & 0xffff) + (b >> 48));
    return static_cast<float>(2 * sum - 4 * 0xffff) * kNormalScale;
  }

 private:
  // Twice the sum less its mean has variance 4 * 4 * (2^32 - 1) / 12.
  static constexpr float kNormalScale = 1.3214499e-05f;

  uint64_t key_;
};

}  // namespace svengine::validate
