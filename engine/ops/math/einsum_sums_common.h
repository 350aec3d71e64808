// The sums of an Einstein sum that are no product of matrices.
#pragma once
#include <vector>

#include "engine/ops/lowering.h"

namespace svengine::ops {

/// out[kept] = sum over `summed` of a (times b): dimensions, and the operands' strides through them in elements, 0 where they repeat.
struct EinsumSums {
  Dims kept, summed;
  std::vector<int64_t> a_kept, a_summed, b_kept, b_summed;
};

/// Steps that leave them in `out`, which is dense, from `a` and, unless that is none, `b`: a copy, a reduction or an elementwise product,
/// where they are one, and a loop where not: over diagonals, and sums of products.
Status emit_einsum_sums(LowerContext& c, DType type, EinsumSums sums, Buffer a, Buffer b, Buffer out);

}  // namespace svengine::ops
