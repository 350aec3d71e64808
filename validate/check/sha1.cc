#include "validate/check/sha1.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace svengine::validate {
namespace {

using Sha1State = std::array<uint32_t, 5>;
constexpr size_t kBlock = 64;

void sha1_block(Sha1State& state, const std::byte* block) {
  uint32_t w[80];
  for (int i = 0; i < 16; ++i) {
    w[i] = 0;
    for (int j = 0; j < 4; ++j) w[i] = w[i] << 8 | static_cast<uint32_t>(block[4 * i + j]);
  }
  for (int i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  auto [a, b, c, d, e] = state;
  for (int i = 0; i < 80; ++i) {
    const uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 ? b ^ c ^ d : i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
    const uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
    const uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

}  // namespace

std::string sha1_of(std::span<const std::byte> bytes) {
  Sha1State state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  size_t at = 0;
  for (; bytes.size() - at >= kBlock; at += kBlock) sha1_block(state, bytes.data() + at);
  // The rest, a bit that ends it, and the length in bits: one block or two.
  std::array<std::byte, 2 * kBlock> last{};
  const size_t rest = bytes.size() - at;
  if (rest) std::memcpy(last.data(), bytes.data() + at, rest);
  last[rest] = std::byte{0x80};
  const size_t end = rest + 9 > kBlock ? 2 * kBlock : kBlock;
  const uint64_t bits = static_cast<uint64_t>(bytes.size()) * 8;
  for (size_t i = 0; i < 8; ++i) last[end - 1 - i] = static_cast<std::byte>(bits >> 8 * i);
  for (size_t i = 0; i < end; i += kBlock) sha1_block(state, last.data() + i);
  std::string out;
  for (const uint32_t word : state) out += fmt::format("{:08x}", word);
  return out;
}

}  // namespace svengine::validate
