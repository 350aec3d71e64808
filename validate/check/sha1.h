// SHA-1 (FIPS 180-4), which ONNX's external data name as their checksum. It tells accidents; it withstands nobody who wants a collision.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace svengine::validate {

/// 40 hexadecimal digits.
std::string sha1_of(std::span<const std::byte> bytes);

}  // namespace svengine::validate
