// Sizes and positions in space.
#pragma once
#include <cstdint>

namespace svengine::kernels {

/// Two-dimensional things have depth 1, one-dimensional ones also height 1.
struct Extent {
  int64_t depth = 1;
  int64_t height = 1;
  int64_t width = 1;
};

}  // namespace svengine::kernels
