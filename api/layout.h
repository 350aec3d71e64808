// Tensors as other programs have them, and the dense row-major ones that the engine computes on.
#pragma once
#include <cstdint>
#include <span>

#include "engine/base/tensor.h"

namespace svengine {

/// A caller's tensor: what svengine_tensor of svengine.h says.
struct TensorLayout {
  DType type = DType::undefined;
  std::span<const int64_t> dims;
  const int64_t* strides = nullptr;  // in elements; null: dense
  const int64_t* rows = nullptr;     // which of `extent` rows; null: all
  int64_t extent = 0, first_row = 0;
  void* data = nullptr;
};

/// Elements lie one after the other, as the engine reads and writes them in place.
bool is_dense(const TensorLayout& t);

/// Refuses what cannot be: negative sizes, rows beyond the extent, no data where there are elements. `written`: also elements that lie on
/// each other.
Status check_layout(const TensorLayout& t, bool written);

/// Types of which one may be taken for the other when conversion is asked for: floats of 16, 32 and 64 bits.
bool is_convertible(DType from, DType to);

/// Dense elements of `type` from the caller's, and the way back. Types are alike or convertible; a number too large for the smaller type is an
/// infinity.
void gather_elements(const TensorLayout& from, DType type, void* dense);
void scatter_elements(const void* dense, DType type, const TensorLayout& to);

}  // namespace svengine
