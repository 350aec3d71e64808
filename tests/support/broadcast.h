// Operands that broadcast, element by element.
#pragma once
#include <cstddef>

#include "engine/base/shape.h"

namespace svengine::tests {

/// Where element `at` of a tensor of shape `out` is in one of shape `dims` that broadcasts to it.
inline size_t broadcast_place(const Dims& dims, const Dims& out, size_t at) {
  size_t place = 0, stride = 1;
  for (size_t i = 1; i <= out.size(); ++i) {
    const auto size = static_cast<size_t>(out[out.size() - i]);
    if (i <= dims.size()) {
      const auto own = static_cast<size_t>(dims[dims.size() - i]);
      place += own == 1 ? 0 : at % size * stride;
      stride *= own;
    }
    at /= size;
  }
  return place;
}

}  // namespace svengine::tests
