// IDX files, the format of MNIST and its successors, plain or gzipped (as Debian's dataset-fashion-mnist has them).
//
//   0 0 type rank | rank sizes, 4 bytes each, big endian | elements, big endian, last index fastest
//   type: 0x08 uint8, 0x09 int8, 0x0b int16, 0x0c int32, 0x0d float32, 0x0e float64
//
// Images are uint8 [N, 28, 28], labels uint8 [N].
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "engine/base/tensor.h"

namespace svengine {

/// Gzipped or not is told from the content.
Result<Tensor> load_idx(const std::string& path);

/// The elements are copied.
Result<Tensor> parse_idx(std::span<const std::byte> bytes);

}  // namespace svengine
