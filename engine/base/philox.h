// Philox 4x32-10: four random 32-bit words as a pure function of a 128-bit counter and a 64-bit key.
//
// Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11
// (doi 10.1145/2063384.2063405), section 3.3; multipliers and Weyl constants from there. It passes all of TestU01's BigCrush.
#pragma once
#include <array>
#include <cstdint>

namespace svengine {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

inline PhiloxCounter philox4x32(PhiloxCounter c, PhiloxKey k) {
  constexpr uint64_t kMultiplier0 = 0xd2511f53, kMultiplier1 = 0xcd9e8d57;
  constexpr uint32_t kWeyl0 = 0x9e3779b9, kWeyl1 = 0xbb67ae85;  // fractions of the golden ratio and of sqrt(3)
  constexpr int kRounds = 10;
  for (int i = 0; i < kRounds; ++i) {
    const uint64_t p0 = kMultiplier0 * c[0], p1 = kMultiplier1 * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1), static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1],
         static_cast<uint32_t>(p0)};
    k = {k[0] + kWeyl0, k[1] + kWeyl1};
  }
  return c;
}

}  // namespace svengine
