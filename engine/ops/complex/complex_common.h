// Products of complex numbers, which are pairs of real ones in the last dimension, as DFT has them: [..., 2].
//
// A complex product is a real one with twice the depth and twice the columns, and no more multiplications than its own. Of a row of A
// with its pairs as they lie, and of B with every number as the rows of the real matrix that multiplies by it,
//
//                                  [  re(b)  im(b) ]
//     [ re(a) im(a) ]   times      [ -im(b)  re(b) ]   =   [ re(ab) im(ab) ]
//
// so [m, k, 2] times [k, 2, n, 2] is [m, n, 2] as it has to lie. B's rows are made by svengine.ComplexMatrix (folded where B is known), the
// rest is Einsum, whose kernels are those of real products, in float32 and float64 and with every kernel set.
#pragma once
#include <vector>

#include "engine/graph/expand.h"
#include "engine/graph/op_def.h"
#include "engine/ops/math/einsum_common.h"

namespace svengine::ops {

inline constexpr DTypeSet kComplexParts{DType::f32, DType::f64};

inline bool is_set(const Attributes& attributes, const char* name) { return attributes.get_int(name) != 0; }

/// Shapes of inputs [first, last) without the pairs; an error for an input whose last dimension is not 2. Unknown ranks stay so.
Result<std::vector<Shape>> complex_shapes(const InferContext& c, size_t first, size_t last);
/// Their ranks, for an expansion; -1 where the rank or the last dimension is not known yet.
std::vector<int64_t> complex_ranks(const ExpandContext& c, size_t operands);

/// A shape of complex numbers as it is stored: with the pairs.
Shape with_pairs(const Shape& shape);

/// The product of operands under `equation`, which says nothing of the pairs. `conjugate` has a flag for each operand.
Result<Value*> complex_product(ExpandContext& c, const EinsumEquation& equation, const std::vector<Value*>& operands,
                               const std::vector<bool>& conjugate);

/// numpy.matmul's rules as an equation, over complex matrices of these ranks, transposed in their last two dimensions or not.
EinsumEquation matrix_equation(int64_t rank_a, int64_t rank_b, bool transpose_a, bool transpose_b);

}  // namespace svengine::ops
