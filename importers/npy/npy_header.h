// The header of a .npy file, parsed strictly: it is a Python expression, but none is ever evaluated.
#pragma once
#include <cstddef>
#include <span>

#include "engine/base/dtype.h"
#include "engine/base/shape.h"

namespace svengine {

struct NpyHeader {
  DType type = DType::undefined;
  bool big_endian = false;
  bool fortran_order = false;
  Dims dims;
  size_t data_offset = 0;
};

Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes);

}  // namespace svengine
