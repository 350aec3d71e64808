#include "engine/kernels/elementwise.h"

namespace svengine::kernels {
namespace {

struct Dimension {
  int64_t size;
  int64_t stride[3];
};

/// One step of `outer` equals inner.size steps of `inner` in every operand.
bool mergeable(const Dimension& outer, const Dimension& inner, int count) {
  for (int k = 0; k < count; ++k)
    if (outer.stride[k] != inner.stride[k] * inner.size) return false;
  return true;
}

/// DType strides of dimension `d` (counted from the last) of each operand; advances the running products.
Dimension dimension_at(const int64_t* output, int rank, const int64_t* const* operands, const int* ranks, int count, int d,
                       int64_t* products) {
  Dimension dim{output[rank - 1 - d], {}};
  for (int k = 0; k < count; ++k) {
    const int64_t size = d < ranks[k] ? operands[k][ranks[k] - 1 - d] : 1;
    dim.stride[k] = size == 1 ? 0 : products[k];
    products[k] *= size;
  }
  return dim;
}

}  // namespace

bool make_broadcast(const int64_t* output, int rank, const int64_t* const* operands, const int* ranks, int count,
                    Broadcast* result) noexcept {
  Dimension dims[kMaxBroadcastDims];  // innermost first
  int used = 0;
  int64_t products[3] = {1, 1, 1};
  bool empty = false;
  for (int d = 0; d < rank; ++d) {
    const Dimension dim = dimension_at(output, rank, operands, ranks, count, d, products);
    empty = empty || dim.size == 0;
    if (dim.size == 1) continue;
    if (used > 0 && mergeable(dim, dims[used - 1], count)) {
      dims[used - 1].size *= dim.size;
      continue;
    }
    if (used == kMaxBroadcastDims) return false;
    dims[used++] = dim;
  }
  *result = {};
  if (used == 0 || empty) {  // one element, or none
    result->size[0] = empty ? 0 : 1;
    for (auto& stride : result->stride) stride[0] = 1;
    return true;
  }
  result->rank = used;
  for (int d = 0; d < used; ++d) {
    result->size[d] = dims[used - 1 - d].size;
    for (int k = 0; k < count; ++k) result->stride[k][d] = dims[used - 1 - d].stride[k];
  }
  return true;
}

}  // namespace svengine::kernels
