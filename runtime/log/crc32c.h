// CRC32C (Castagnoli's polynomial, RFC 3720 appendix B.4), as TensorBoard's event files use it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace svengine {

uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace svengine
