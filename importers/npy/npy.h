// NumPy's .npy files: one array each.
//
//   "\x93NUMPY" major minor | header length (2 bytes; 4 since version 2) | header | elements
//   header: a Python dict in text: {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 224, 224), }
//
// Taken are versions 1 to 3; bool, signed and unsigned integers of 1 to 8 bytes, float16, float32, float64; either byte order
// and either memory order. Objects (pickles), strings, records, dates and complex numbers are refused by name.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "engine/base/tensor.h"

namespace svengine {

/// Maps the file; an array in this machine's order is used in place.
Result<Tensor> load_npy(const std::string& path);

/// From memory. Elements in place are kept alive by `owner`; with a null owner they are copied.
Result<Tensor> parse_npy(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner);

/// Version 1, little endian, C order; replaces `path` only when complete. bfloat16 has no NumPy type and is refused.
Status save_npy(const Tensor& tensor, const std::string& path);

}  // namespace svengine
