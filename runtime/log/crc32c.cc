#include "runtime/log/crc32c.h"

#include <array>

namespace svengine {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // bits reversed

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
    table[i] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = make_table();

}  // namespace

uint32_t crc32c(std::span<const std::byte> bytes) {
  uint32_t crc = ~uint32_t{0};
  for (std::byte b : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint32_t>(b)) & 0xff];
  return ~crc;
}

}  // namespace svengine
